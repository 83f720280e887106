import BreakerTestSupport
import Testing

@testable import BreakerStore

/// A handle for a circuit that somebody else has registered.
@Suite struct NamedBreakerTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    @Test func itHasTheStoredConfig() async throws {
        let other = try CircuitStore(path: self.fixture.store.path, configuration: self.fixture.store.configuration)
        let registered = try self.fixture.breaker("a", trip: .failures(7, within: .seconds(60)))
        for store in [self.fixture.store, other] {
            let named = try store.breaker(named: "a")
            #expect(named.config == registered.config)
            await named.recordFailure()
        }
        #expect(registered.failureCount == 2)
        #expect(try self.fixture.store.breaker(named: "a") == registered)
        other.close()
    }

    /// What is stored is read and noted in one transaction: a config that another process stores meanwhile stays.
    @Test func itChangesNoConfig() throws {
        let registered = try self.fixture.breaker("a", trip: .failures(7, within: .seconds(60)))
        let history = try self.fixture.store.history().count
        _ = try self.fixture.store.breaker(named: "a")
        try self.fixture.store.patiently { _ = try $0.breaker(.init(name: "a", trip: .consecutiveFailures(2))) }
        let named = try self.fixture.store.breaker(named: "a")
        #expect(named.config.trip == .consecutiveFailures(2))
        #expect(registered.config.trip == .consecutiveFailures(2))
        #expect(try self.fixture.store.history().count == history + 1)
    }

    /// Its use is noted in the transaction that reads it, and not in a second one once there is a handle.
    @Test func itIsInUseOnceItIsRead() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            defer { store.close() }
            let core = try #require(store.backend.core)
            let config = try #require(try core.setUsed(of: "a", until: Deadline(after: .hangLimit)))
            #expect(try store.circuit(named: "a")?.workers == 1)
            #expect(try store.breaker(named: "a").config == config)
        }
    }

    /// Somebody has forgotten it: to ask for it does not keep what this process has of it.
    @Test func aForgottenOneIsNotKeptByAsking() throws {
        let store = self.fixture.store
        let core = try #require(self.fixture.core)
        do { _ = try self.fixture.breaker("a") }
        Foreign.run(store.path, "DELETE FROM circuit WHERE name = 'a'")
        for _ in 0..<3 {
            self.fixture.clock.advance(by: .seconds(30))
            #expect(throws: BreakerStoreError.self) { try store.breaker(named: "a") }
        }
        _ = core.circuits.dropIdle(at: core.clock.uptime)
        #expect(core.circuits.isEmpty)
    }

    /// This process has a handle: whoever made the circuit anew has not noted that this process uses it.
    @Test func theUseOfACircuitThatWasRecreatedIsNoted() async throws {
        let breaker = try self.fixture.breaker("a")
        let path = self.fixture.store.path
        try await breaker.run {}
        Foreign.run(
            path,
            """
            DELETE FROM registration; UPDATE circuit SET incarnation = incarnation + 1, epoch = epoch + 1
            """)
        try await breaker.run {}
        #expect(await eventually { Foreign.value(path, "SELECT count(*) FROM registration") == "1" })
    }

    @Test func thereMustBeOne() throws {
        for name in ["a", "", String(repeating: "x", count: 10_000)] {
            #expect {
                _ = try self.fixture.store.breaker(named: name)
            } throws: {
                ($0 as? BreakerStoreError)?.code == .noSuchCircuit
            }
        }
        _ = try self.fixture.breaker("a")
        try self.fixture.store.forget("a")
        #expect {
            _ = try self.fixture.store.breaker(named: "a")
        } throws: {
            ($0 as? BreakerStoreError)?.code == .noSuchCircuit
        }
        var calls = CallPolicy()
        calls.timeout = .seconds(31)
        _ = try self.fixture.breaker("b")
        #expect {
            _ = try self.fixture.store.breaker(named: "b", calls: calls)
        } throws: {
            ($0 as? BreakerStoreError)?.code == .invalidConfiguration
        }
    }
}
