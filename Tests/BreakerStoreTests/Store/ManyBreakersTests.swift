import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Many circuits are registered in one transaction.
@Suite(.timeLimit(.minutes(10))) struct ManyBreakersTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    private static func configs(_ count: Int) -> [CircuitBreaker.Config] {
        (0..<count).map { .init(name: "tenant-\($0)", trip: .failures(2, within: .seconds(60))) }
    }

    @Test func areRegisteredInOneTransaction() throws {
        let store = self.fixture.store
        let before = self.fixture.commits
        let breakers = try store.breakers(Self.configs(1_000))
        #expect(self.fixture.commits == before + 1)
        #expect(breakers.map(\.name) == Self.configs(1_000).map(\.name))
        #expect(try store.circuits().count == 1_000)
        #expect(try store.circuits().allSatisfy { $0.workers == 1 })
        for _ in 0..<2 { breakers[7].recordFailure() }
        #expect(!breakers[7].isCallPermitted)
        #expect(breakers[8].isCallPermitted)
        // Once more changes nothing, and gives equal handles.
        let commits = self.fixture.commits
        #expect(try store.breakers(Self.configs(1_000)) == breakers)
        #expect(try store.breaker(Self.configs(8)[7]) == breakers[7])
        #expect(self.fixture.commits == commits)
    }

    /// A config that could not be stored is stored when somebody asks for the circuit again, whichever one it is.
    @Test(arguments: 0..<3)
    func whatWasNotStoredIsStoredWhenItIsAskedForAgain(_ index: Int) throws {
        let core = try #require(self.fixture.core)
        let configs = Self.configs(3)
        let breakers = try self.fixture.store.breakers(configs)
        let one = SharedCircuit.Unstored(config: configs[index], uptime: core.clock.uptime)
        core.circuits.registrationFailed(one, of: breakers[index].circuit, isNew: true)
        #expect(try self.fixture.store.breakers(configs) == breakers)
        #expect(core.circuits.drainUnstored().isEmpty)
    }

    @Test func noneIsRegisteredIfOneIsNotValid() throws {
        var configs = Self.configs(3)
        configs[2].name = ""
        let error = #expect(throws: BreakerStoreError.self) { try self.fixture.store.breakers(configs) }
        #expect(error?.code == .invalidConfiguration)
        #expect(try self.fixture.store.circuits().isEmpty)
        #expect(try self.fixture.store.breakers([]).isEmpty)
    }

    @Test func theLastConfigOfANameRules() throws {
        var configs = Self.configs(1) + Self.configs(1)
        configs[1].trip = .consecutiveFailures(9)
        let breakers = try self.fixture.store.breakers(configs)
        #expect(breakers[0] == breakers[1])
        #expect(breakers[0].config == configs[1])
        #expect(try self.fixture.store.circuits().count == 1)
    }

    /// A circuit that is forgotten and registered again in one transaction gets no epoch that was used before.
    @Test func epochsRiseOverForgetting() throws {
        let store = self.fixture.store
        let core = try #require(self.fixture.core)
        let breaker = try self.fixture.breaker()
        for _ in 0..<3 { breaker.recordFailure() }
        let epoch = try #require(try store.circuit(named: "a")?.epoch)
        let config = breaker.config
        try core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
            _ = try transaction.forget("a")
            try transaction.register(config)
        }
        #expect(try #require(try store.circuit(named: "a")?.epoch) > epoch)
    }
}
