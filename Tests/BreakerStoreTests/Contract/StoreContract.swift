import BreakerStore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Uses each declaration of the store, the circuit and the permit as another module would: one that is renamed, retyped
/// or gone does not compile.
@Suite struct StoreContract {
    typealias Failure = BreakerStoreError

    @Test func store() throws {
        let open: (String, CircuitStore.Configuration) throws(Failure) -> CircuitStore = {
            (path, configuration) throws(Failure) in
            _ = { () throws(Failure) in try CircuitStore(path: path) }
            return try CircuitStore(path: path, configuration: configuration)
        }
        let temporary: (CircuitStore.Configuration) throws(Failure) -> CircuitStore = CircuitStore.temporary(
            configuration:)
        _ = { () throws(Failure) in try CircuitStore.temporary() }
        let store: some Sendable = try temporary(CircuitStore.Configuration())
        _ = (open, store)
    }

    @Test func storeMembers() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker: (CircuitBreaker.Config, CallPolicy) throws(Failure) -> CircuitBreaker = store.breaker(_:calls:)
        _ = try store.breaker(CircuitBreaker.Config(name: "a"))
        let breakers: ([CircuitBreaker.Config], CallPolicy) throws(Failure) -> [CircuitBreaker] =
            store.breakers(_:calls:)
        #expect(try store.breakers([CircuitBreaker.Config(name: "a")]) == [store.breaker(.init(name: "a"))])
        let named: (String, CallPolicy) throws(Failure) -> CircuitBreaker = store.breaker(named:calls:)
        #expect(try store.breaker(named: "a") == store.breaker(.init(name: "a")))
        let path: String = store.path
        let events: (CircuitEvent.ID?) -> AsyncStream<CircuitEvent> = store.events(after:)
        _ = store.events()
        let health: StoreHealth = store.health
        let healthChanges: () -> AsyncStream<StoreHealth> = store.healthChanges
        let onHealth: WritableKeyPath<CircuitStore.Configuration, (@Sendable (StoreHealth) -> Void)?> = \.onHealth
        let migration: WritableKeyPath<CircuitStore.Configuration, CircuitStore.Migration> = \.migration
        #expect([CircuitStore.Migration.automatic, .never].first == CircuitStore.Configuration().migration)
        let close: () -> Void = store.close
        let run: () async throws -> Void = store.run
        _ = (breaker, breakers, named, path, events, health, healthChanges, onHealth, migration, close, run)
    }

    @Test func storeLooking() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(CircuitBreaker.Config(name: "a"))
        let circuits: (String) throws(Failure) -> [CircuitSnapshot] = store.circuits(matching:)
        #expect(try store.circuits().count == 1)
        let page: (String, String?, Bool?, String?, Int) throws(Failure) -> [CircuitSnapshot] =
            store.circuits(matching:group:isClosed:after:limit:)
        #expect(try store.circuits(matching: "*", limit: 1).count == 1)
        let circuit: (String) throws(Failure) -> CircuitSnapshot? = store.circuit(named:)
        let history: (String?, CircuitEvent.ID?, Int) throws(Failure) -> [CircuitEvent] =
            store.history(of:after:limit:)
        #expect(try store.history().isEmpty)
        let workers: () throws(Failure) -> [WorkerSnapshot] = store.workers
        let facts: () throws(Failure) -> StoreFacts = store.facts
        _ = (circuits, page, circuit, history, workers, facts)
    }

    @Test func storeLookingAsynchronously() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(CircuitBreaker.Config(name: "a"))
        let circuits: (String) async throws(Failure) -> [CircuitSnapshot] = store.circuits(matching:)
        #expect(try await store.circuits().count == 1)
        let page: (String, String?, Bool?, String?, Int) async throws(Failure) -> [CircuitSnapshot] =
            store.circuits(matching:group:isClosed:after:limit:)
        #expect(try await store.circuits(matching: "*", limit: 1).count == 1)
        let circuit: (String) async throws(Failure) -> CircuitSnapshot? = store.circuit(named:)
        let history: (String?, CircuitEvent.ID?, Int) async throws(Failure) -> [CircuitEvent] =
            store.history(of:after:limit:)
        #expect(try await store.history().isEmpty)
        let workers: () async throws(Failure) -> [WorkerSnapshot] = store.workers
        let facts: () async throws(Failure) -> StoreFacts = store.facts
        #expect(try await store.facts().circuitCount == 1)
        _ = (circuits, page, circuit, history, workers, facts)
    }

    @Test func storeOperating() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(CircuitBreaker.Config(name: "a"))
        let reset: (String, String?, String?) throws(Failure) -> Void = store.reset(_:by:reason:)
        try store.reset("a")
        let hold: (String, HoldState, Duration?, String?, String?) throws(Failure) -> Void =
            store.hold(_:_:for:by:reason:)
        try store.hold("a", .open)
        let release: (String, String?, String?) throws(Failure) -> Void = store.release(_:by:reason:)
        try store.release("a")
        let probe: (String, String?, String?) throws(Failure) -> Void = store.probe(_:by:reason:)
        try store.probe("a")
        let forget: (String, String?, String?) throws(Failure) -> Void = store.forget(_:by:reason:)
        try store.forget("a")
        _ = (reset, hold, release, probe, forget)
    }

    @Test func storeOperatingAsynchronously() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(CircuitBreaker.Config(name: "a"))
        let reset: (String, String?, String?) async throws(Failure) -> Void = store.reset(_:by:reason:)
        try await store.reset("a")
        let hold: (String, HoldState, Duration?, String?, String?) async throws(Failure) -> Void =
            store.hold(_:_:for:by:reason:)
        try await store.hold("a", .open)
        let release: (String, String?, String?) async throws(Failure) -> Void = store.release(_:by:reason:)
        try await store.release("a")
        let probe: (String, String?, String?) async throws(Failure) -> Void = store.probe(_:by:reason:)
        try await store.probe("a")
        let forget: (String, String?, String?) async throws(Failure) -> Void = store.forget(_:by:reason:)
        try await store.forget("a")
        _ = (reset, hold, release, probe, forget)
    }

    @Test func circuit() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker: CircuitBreaker = try store.breaker(.init(name: "a"))
        let sendable: any Sendable = breaker
        let name: String = breaker.name
        let config: CircuitBreaker.Config = breaker.config
        let state: CircuitState = breaker.state
        let failureCount: Int = breaker.failureCount
        let isCallPermitted: Bool = breaker.isCallPermitted
        _ = (sendable, name, config, state, failureCount, isCallPermitted)
    }

    @Test func circuitOperating() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker: CircuitBreaker = try store.breaker(.init(name: "a"))
        let reset: (String?, String?) throws(Failure) -> Void = breaker.reset(by:reason:)
        try breaker.reset()
        let hold: (HoldState, Duration?, String?, String?) throws(Failure) -> Void = breaker.hold(_:for:by:reason:)
        try breaker.hold(.open)
        let release: (String?, String?) throws(Failure) -> Void = breaker.release(by:reason:)
        try breaker.release()
        let probe: (String?, String?) throws(Failure) -> Void = breaker.probe(by:reason:)
        try breaker.probe()
        let history: (CircuitEvent.ID?, Int) throws(Failure) -> [CircuitEvent] = breaker.history(after:limit:)
        #expect(try breaker.history().count == 3)
        let snapshot: () throws(Failure) -> CircuitSnapshot = breaker.snapshot
        _ = (reset, hold, release, probe, history, snapshot)
    }

    @Test func circuitOperatingAsynchronously() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker: CircuitBreaker = try store.breaker(.init(name: "a"))
        let reset: (String?, String?) async throws(Failure) -> Void = breaker.reset(by:reason:)
        try await breaker.reset()
        let hold: (HoldState, Duration?, String?, String?) async throws(Failure) -> Void =
            breaker.hold(_:for:by:reason:)
        try await breaker.hold(.open)
        let release: (String?, String?) async throws(Failure) -> Void = breaker.release(by:reason:)
        try await breaker.release()
        let probe: (String?, String?) async throws(Failure) -> Void = breaker.probe(by:reason:)
        try await breaker.probe()
        let history: (CircuitEvent.ID?, Int) async throws(Failure) -> [CircuitEvent] = breaker.history(after:limit:)
        #expect(try await breaker.history().count == 3)
        let snapshot: () async throws(Failure) -> CircuitSnapshot = breaker.snapshot
        #expect(try await breaker.snapshot().name == "a")
        _ = (reset, hold, release, probe, history, snapshot)
    }

    @Test func calls() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1_000, within: .seconds(60))))
        let operation: () async throws -> Int = { 1 }
        let isFailure: (Int) -> Bool = { $0 > 1 }
        let fallback: (any Error) async throws -> Int = { _ in 2 }
        #expect(try await breaker.run(operation) == 1)
        #expect(try await breaker.run(operation, failingWhen: isFailure) == 1)
        #expect(try await breaker.run(operation, fallback: fallback) == 1)
        let synchronousFallback: (any Error) throws -> Int = { _ in 2 }
        #expect(try await breaker.run(operation, fallback: synchronousFallback) == 1)
        let failure: (Int) -> (any Error)? = { _ in nil }
        #expect(try await breaker.run(operation, failure: failure) == 1)
        #expect(try await breaker.run(operation, failure: failure, fallback: fallback) == 1)
        let admit: () async throws(CircuitOpenError) -> CallPermit = breaker.admit
        _ = try await admit()
        let permit: CallPermit = try await breaker.admit()
        await permit.succeed()
        await permit.fail()
        await permit.fail(CancellationError())
        permit.discard()
        await breaker.recordSuccess()
        await breaker.recordFailure()
        await breaker.recordFailure(CancellationError())
        try Self.synchronousCalls(breaker)
    }

    private static func synchronousCalls(_ breaker: CircuitBreaker) throws {
        let operation: () throws -> Int = { 1 }
        let isFailure: (Int) -> Bool = { $0 > 1 }
        #expect(try breaker.run(operation) == 1)
        #expect(try breaker.run(operation, failingWhen: isFailure) == 1)
        let failure: (Int) -> (any Error)? = { _ in nil }
        #expect(try breaker.run(operation, failure: failure) == 1)
        let fallback: (any Error) throws -> Int = { _ in 2 }
        #expect(try breaker.run(operation, fallback: fallback) == 1)
        let admit: () throws(CircuitOpenError) -> CallPermit = breaker.admit
        try admit().succeedLater()
        let permit: CallPermit = try breaker.admit()
        permit.failLater()
        permit.failLater(CancellationError())
        let sendable: any Sendable = permit
        permit.succeed()
        permit.fail()
        permit.fail(CancellationError())
        breaker.recordSuccess()
        breaker.recordFailure()
        breaker.recordFailure(CancellationError())
        _ = sendable
    }
}
