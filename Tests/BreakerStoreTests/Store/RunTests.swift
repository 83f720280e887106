import BreakerTestSupport
import Dispatch
import Testing

@testable import BreakerStore

/// The shape of a ServiceLifecycle service.
private protocol Service: Sendable {
    func run() async throws
}

extension CircuitStore: Service {}

@Suite(.timeLimit(.minutes(10))) struct RunTests {
    @Test func aCancelledRunCommitsWhatWaitsAndReportsIt() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/circuits.db"
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        configuration.busyTimeout = .hangLimit
        let store = try CircuitStore(path: path, configuration: configuration)
        let breaker = try store.breaker(.init(name: "a", trip: .failures(3, within: .seconds(60))))
        let events = store.events()
        let core = try #require(store.backend.core)
        let service: any Service = store
        let running = Task { try await service.run() }
        let locks = HeldLocks(.lead, of: core)
        async let leader: Void = withCheckedContinuation { continuation in
            DispatchQueue(label: "leader").async {
                breaker.recordFailure()
                continuation.resume()
            }
        }
        #expect(await eventually { core.waitingCount == 1 })
        let others = (0..<2).map { _ in Task { await breaker.recordFailure() } }
        #expect(await eventually { core.waitingCount == 3 })
        #expect(!store.isClosed)
        running.cancel()
        // The last commit, behind which there is nothing.
        #expect(await eventually { core.waitingCount == 4 })
        locks.letGo()
        try await running.value
        #expect(store.isClosed)
        await leader
        for other in others { await other.value }
        #expect(await events.reduce(into: []) { $0.append($1.kind) } == [.tripped])
        let again = try CircuitStore(path: path, configuration: configuration)
        defer { again.close() }
        await #expect(try again.history(of: "a").map(\.kind) == [.tripped])
        await #expect(try again.workers().count == 1)
    }

    /// Whoever closes it, the service ends when it is told to.
    @Test func runOutlivesAClose() async throws {
        let store = try StoreFixture.makeStore()
        let hasReturned = CircuitCounters()
        let running = Task {
            try await store.run()
            hasReturned.add()
        }
        store.close()
        for _ in 0..<10 { await Task.yield() }
        #expect(hasReturned.count == 0)
        running.cancel()
        try await running.value
        #expect(hasReturned.count == 1)
        // A task that was cancelled before it began.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.run()
        }
        late.cancel()
        try await late.value
    }
}
