import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// What must not keep totals from being saved, and what must not save them twice.
@Suite(.serialized, .ownDirectory, .timeLimit(.minutes(10))) struct SavedAlongFaultTests {
    private func saved(_ path: String) -> String? {
        Foreign.value(path, "SELECT coalesce(sum(succeeded), 0) FROM counters")
    }

    /// The commit that finds another file in place of its own must not keep the totals as if they were under way.
    @Test func totalsAreSavedAfterTheFileWasReplaced() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let path = fixture.store.backend.file.path
        let breaker = try fixture.breaker("healthy")
        for _ in 0..<7 { try await breaker.run {} }
        core.publishAllCounts()
        fixture.clock.advance(by: .seconds(2))
        try FileManager.default.removeItem(atPath: path)
        _ = try? fixture.breaker("another")
        #expect(await eventually { fixture.isHealthy && FileManager.default.fileExists(atPath: path) })
        for _ in 0..<5 { try await breaker.run {} }
        core.publishAllCounts()
        fixture.clock.advance(by: .seconds(3_600))
        #expect(
            await eventually {
                core.saveCountersIfDue()
                return self.saved(path) != "0"
            })
    }

    /// Each trip saves some circuits, which must not put off the commit that saves all of them.
    @Test func tripsDoNotPutOffTheSavingOfAllTotals() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let all = try fixture.store.breakers((0..<1_500).map { .init(name: "c\($0)") })
        let trips = try fixture.store.breakers(
            (0..<5).map { .init(name: "t\($0)", trip: .failures(1, within: .seconds(60))) })
        for breaker in all { try await breaker.run {} }
        core.publishAllCounts()
        for trip in trips {
            for _ in 0..<30 {
                fixture.clock.advance(by: .seconds(10))
                core.saveCountersIfDue()
                try await core.commit(until: fixture.store.deadline) { (_) throws(BreakerStoreError) in }
            }
            await trip.recordFailure()
        }
        #expect(self.saved(fixture.store.backend.file.path) == "1500")
    }

    /// The caller of the commit waits while circuits are examined.
    @Test func aCommitExaminesFewCircuits() async throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let core = try #require(store.backend.core)
        // No board can be made, so this process counts for itself.
        try FileManager.default.createDirectory(
            atPath: store.backend.file.path + "-board", withIntermediateDirectories: false)
        let breakers = try store.breakers((0..<StoreCounts.maxExamined * 2 + 1).map { .init(name: "c\($0)") })
        for breaker in breakers { try await breaker.run {} }
        core.publishAllCounts()
        func save(_ occasion: StoreCounts.Occasion) -> Bool {
            let batch = core.counting.beginSave(
                on: occasion, by: core.keys.currentWorker, atMost: StoreCounts.maxAtOnce, reading: core.adopt)
            if let batch { core.counting.setSaved(batch) }
            return batch != nil
        }
        while save(.pauseIsOver) {}
        // How many commits find the one circuit that has new calls?
        var commits: [Int?] = []
        for _ in 0..<2 {
            try await breakers[0].run {}
            core.publishAllCounts()
            commits.append((1...10).first { _ in save(.otherCommit) })
        }
        // The second walk begins just behind this circuit, and has more others before it than one commit examines.
        #expect((1...3).contains(commits[0] ?? 0) && (2...3).contains(commits[1] ?? 0), "\(commits)")
    }
}
