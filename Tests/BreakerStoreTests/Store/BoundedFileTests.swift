import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Neither the log nor the tables grow without end.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BoundedFileTests {
    @Test func theLogIsCheckpointedLongBeforeAShellWould() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1_000_000, within: .milliseconds(1))))
        var most = 0
        for _ in 0..<2_000 {
            breaker.recordFailure()
            most = max(most, store.header?.frames ?? 0)
        }
        #expect(most >= 200)
        #expect(most < 1_000, "a stock shell checkpoints by itself at 1,000 frames")
        #expect(store.health.isHealthy)
    }

    /// Before SQLite 3.51.3 a commit inside a checkpoint can corrupt the file.
    ///
    /// In a process of its own, where no other store checkpoints.
    @Test func nobodyWritesDuringACheckpoint() async {
        await #expect(processExitsWith: .success) {
            let store = try StoreFixture.makeStore()
            let path = store.backend.file.path
            let codes = Locked<[Int32]>([])
            Hook.install { name in
                guard name == "checkpoint.locked" else { return }
                let other = try? Database(Connection(path: path, access: .readWrite))
                if let other, let code = try? other.code("BEGIN IMMEDIATE") {
                    codes.withLock { $0.append(code & 0xff) }
                }
            }
            let breaker = try store.breaker(.init(name: "a", trip: .failures(1_000_000, within: .milliseconds(1))))
            func fail() { for _ in 0..<400 { breaker.recordFailure() } }
            fail()
            store.close()
            #expect(!codes.withLock { $0 }.isEmpty)
            #expect(codes.withLock { $0 }.allSatisfy { $0 == Database.busy })
        }
    }

    @Test func eachCircuitKeepsItsNewestEvents() throws {
        var configuration = Stores.configuration()
        configuration.eventsKept = 10
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        for name in ["a", "b"] { _ = try store.breaker(.init(name: name)) }
        try store.reset("b", reason: "first")
        for round in 0..<50 { try store.reset("a", reason: "\(round)") }
        #expect(try store.history(of: "a", limit: 1_000).map(\.reason) == (40..<50).reversed().map { "\($0)" })
        #expect(try store.history(of: "b").map(\.reason) == ["first"])
    }

    /// The older events are deleted now and then: of eight more events at the latest where 64 are kept.
    @Test func eachCircuitKeepsFewOlderEvents() throws {
        var configuration = Stores.configuration()
        configuration.eventsKept = 64
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        for name in ["a", "b"] { _ = try store.breaker(.init(name: name)) }
        var counts: Set<Int> = []
        for round in 0..<200 {
            // Turns, so that no circuit has each eighth number of the history.
            try store.reset("a", reason: "\(round)")
            try store.hold("b", round.isMultiple(of: 2) ? .open : .closed, reason: "\(round)")
            let kept = try ["a", "b"].map { try store.history(of: $0, limit: 1_000) }
            for events in kept where round > 64 {
                #expect(events.prefix(64).map(\.reason) == (round - 63...round).reversed().map { "\($0)" })
                counts.insert(events.count)
            }
        }
        #expect(counts == Set(64...71))
    }
}
