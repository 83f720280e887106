import FoundationEssentials
import Testing

@testable import BreakerStore

/// What guards calls while the file can't be used.
@Suite struct MemoryGuardTests {
    @Test func aStoreThatOpensDegradedHandsOutBreakers() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/garbage-\(UInt64.random(in: 0 ... .max)).db"
        try Data(repeating: 0x41, count: 4_096).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = CircuitStore.Configuration()
        configuration.whenUnavailable = .degrade
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        guard case .degraded(since: _, let error) = store.health else {
            Issue.record("not degraded: \(store.health)")
            return
        }
        #expect(error.code == .notAStore)
        let breaker = try store.breaker(.init(name: "a", trip: .failures(2, within: .seconds(60))))
        #expect(try await breaker.run { 1 } == 1)
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { 1 } }
    }

    /// One process is one reporter: it would wait in vain for others.
    @Test func tripsAloneWhateverTheMinimumOfReporters() async throws {
        let store = try StoreFixture.makeStore()
        let config = CircuitBreaker.Config(
            name: "a", trip: .failures(2, within: .seconds(60)), minimumReporters: 3)
        let breaker = try store.breaker(config)
        store.close()
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { 1 } }
    }

    /// Code that asks before it calls must be guarded, too, while the file can be read but not written.
    @Test func aTripInMemoryIsSeenWhileTheFileCanBeRead() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(300))
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)))
        let writer = try WriteLock(fixture.store)
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(!breaker.isCallPermitted)
        try writer.release()
    }

    /// The file came back for a moment, so that memory forgot, and could not be written to after all.
    @Test func whatTheFileDoesNotTakeAfterAllCountsAgain() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(300))
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        let writer = try WriteLock(fixture.store)
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        core.memory.forgetCircuits()
        core.tellReports()
        #expect(breaker.isCallPermitted)
        await breaker.recordFailure(Boom())
        #expect(!breaker.isCallPermitted)
        try writer.release()
    }

    @Test func aRefusalOfMemoryTellsTheLastError() async throws {
        let store = try StoreFixture.makeStore()
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
        store.close()
        await breaker.recordFailure(Boom())
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.lastError == "Boom")
    }
}
