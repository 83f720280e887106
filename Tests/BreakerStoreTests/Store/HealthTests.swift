import BreakerTestSupport
import Dispatch
import FoundationEssentials
import Testing

@testable import BreakerStore

/// Health is told as it happens.
@Suite(.timeLimit(.minutes(10))) struct HealthTests {
    private func word(_ health: StoreHealth) -> String {
        switch health {
        case .healthy: "healthy"
        case .degraded(since: _, let error): "degraded \(error.code)"
        case .closed: "closed"
        }
    }

    private func store(
        _ change: (inout CircuitStore.Configuration) -> Void = { _ in }
    ) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        configuration.busyTimeout = .milliseconds(50)
        configuration.firstRetry = .milliseconds(5)
        change(&configuration)
        return try CircuitStore.temporary(configuration: configuration)
    }

    @Test func eachChangeIsReportedOnceAndInOrder() async throws {
        let heard = Locked<[String]>([])
        let store = try self.store { $0.onHealth = { health in heard.withLock { $0.append(self.word(health)) } } }
        var iterator = store.healthChanges().makeAsyncIterator()
        #expect(await iterator.next() == .healthy)
        let breaker = try store.breaker(.init(name: "a"))
        for _ in 0..<2 {
            let lock = try WriteLock(store)
            await breaker.recordFailure()
            #expect(await iterator.next().map(self.word) == "degraded busy")
            #expect(!store.isHealthy)
            try lock.release()
            #expect(await iterator.next() == .healthy)
        }
        store.close()
        #expect(await iterator.next() == .closed)
        #expect(await iterator.next() == nil)
        let all = ["degraded busy", "healthy", "degraded busy", "healthy", "closed"]
        #expect(await eventually { heard.withLock { $0 } == all })
    }

    /// Another store on the file goes on.
    @Test func eachStoreIsClosedForItself() async throws {
        let store = try self.store()
        defer { store.close() }
        let other = try CircuitStore(path: store.path, configuration: store.configuration)
        var changes = other.healthChanges().makeAsyncIterator()
        #expect(await changes.next() == .healthy)
        other.close()
        #expect(await changes.next() == .closed)
        #expect(await changes.next() == nil)
        #expect(store.isHealthy)
        var late = other.healthChanges().makeAsyncIterator()
        #expect(await late.next() == .closed)
        #expect(await late.next() == nil)
    }

    /// A hook that hangs takes nothing from the store, from streams, or from another store's hook.
    @Test func aHookThatBlocksHoldsUpNobody() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let store = try self.store { $0.onHealth = { _ in goOn.wait() } }
        let heard = Locked(0)
        var configuration = store.configuration
        configuration.onHealth = { _ in heard.withLock { $0 += 1 } }
        let other = try CircuitStore(path: store.path, configuration: configuration)
        var changes = store.healthChanges().makeAsyncIterator()
        let breaker = try store.breaker(.init(name: "a"))
        #expect(await changes.next() == .healthy)
        let lock = try WriteLock(store)
        await breaker.recordFailure()
        #expect(await changes.next().map(self.word) == "degraded busy")
        try lock.release()
        #expect(await changes.next() == .healthy)
        #expect(await eventually { heard.withLock { $0 } == 2 })
        other.close()
        store.close()
        #expect(await changes.next() == .closed)
        for _ in 0..<3 { goOn.signal() }
    }

    /// A service that starts without its file hears so.
    @Test func aStoreThatBeginsDegradedSaysSo() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        try Data("no database, and longer than a header is, as every database is".utf8).write(
            to: URL(fileURLWithPath: path))
        let heard = Locked<[String]>([])
        var configuration = CircuitStore.Configuration()
        configuration.whenUnavailable = .degrade
        configuration.onHealth = { health in heard.withLock { $0.append(self.word(health)) } }
        let store = try CircuitStore(path: path, configuration: configuration)
        #expect(await eventually { heard.withLock { $0.first } == "degraded notAStore" })
        store.close()
        #expect(await eventually { heard.withLock { $0 } == ["degraded notAStore", "closed"] })
    }
}
