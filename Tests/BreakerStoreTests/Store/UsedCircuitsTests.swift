import Testing

@testable import BreakerStore

/// The table of the circuits that this process uses, without a file.
@Suite struct UsedCircuitsTests {
    private static let minute: Int64 = 60_000_000
    private let circuits = UsedCircuits()

    private static func config(_ name: String, _ failures: Int = 5) -> CircuitBreaker.Config {
        CircuitBreaker.Config(name: name, trip: .consecutiveFailures(failures))
    }

    private func use(_ name: String, _ failures: Int = 5) -> SharedCircuit {
        self.circuits.use(registering: KeptConfig(Self.config(name, failures)))
    }

    private static func read(_ failures: Int, epoch: Int64) -> SharedCircuit.LastRead {
        let rules = Rules(Self.config("a", failures))
        let circuit = Circuit(rules: rules, at: StoreTime(microseconds: epoch))
        return SharedCircuit.LastRead(
            CircuitRow(id: 1, birth: 1, label: nil, registered: 0, circuit: circuit), circuit)
    }

    // MARK: - Handles

    @Test func goesAMinuteAfterItsLastHandle() {
        let circuit = self.use("a")
        let other = self.use("b")
        #expect(self.circuits.use(CircuitName("a")) === circuit)
        circuit.useEnded(at: 1)
        circuit.useEnded(at: 5)
        for (uptime, left) in [(Self.minute + 4, ["a", "b"]), (Self.minute + 5, ["b"])] {
            self.circuits.dropIdle(at: uptime)
            #expect(self.circuits.all.map(\.name).sorted() == left)
        }
        #expect(self.circuits.takeUnused().map(\.since) == [5])
        #expect(self.circuits.use(CircuitName("a")) == nil)
        #expect(other.idleSince == nil)
    }

    /// A thousand at once are dropped in some holds of the lock, and told in some transactions.
    @Test func allThatAreIdleGo() {
        for number in 0..<1_000 { self.use("\(number)").useEnded(at: 1) }
        self.circuits.dropIdle(at: Self.minute + 1)
        #expect(self.circuits.isEmpty)
        var told = 0
        while self.circuits.hasUnused { told += self.circuits.takeUnused().count }
        #expect(told == 1_000)
    }

    @Test func whatTheFileHasNotBeenToldStays() {
        let circuit = self.use("a")
        self.circuits.registrationFailed(.init(config: Self.config("a"), uptime: 1), of: circuit, isNew: true)
        circuit.useEnded(at: 1)
        self.circuits.dropIdle(at: Self.minute + 1)
        #expect(!self.circuits.isEmpty)
        circuit.counts.lanes.add(.succeeded)
        circuit.registered()
        self.circuits.dropIdle(at: Self.minute + 1)
        #expect(!self.circuits.isEmpty, "its call has not been told")
    }

    @Test func onlyWithoutHandlesAForgottenOneGoes() {
        let circuit = self.use("a")
        self.circuits.drop(forgotten: ["a", "b"])
        #expect(!self.circuits.isEmpty)
        circuit.useEnded(at: 1)
        self.circuits.drop(forgotten: ["a", "b"])
        #expect(self.circuits.isEmpty && !self.circuits.hasUnused)
    }

    // MARK: - Configs

    @Test func onlyWhatIsStoredIsKnown() {
        let circuit = self.use("a", 1)
        #expect(self.circuits.use(Self.config("a", 1)) === circuit)
        #expect(self.circuits.use(Self.config("a", 2)) == nil)
        self.circuits.registrationFailed(.init(config: Self.config("a", 1), uptime: 1), of: circuit, isNew: true)
        #expect(self.circuits.use(Self.config("a", 1)) == nil)
        #expect(self.circuits.takeUnstored().map(\.1.uptime) == [1])
        #expect(self.circuits.takeUnstored().isEmpty)
        #expect(self.circuits.use(Self.config("a", 1)) === circuit)
    }

    /// The store's thread could not store what it had taken; a caller could not store a newer config meanwhile.
    @Test func theNewerOfTwoUnstoredConfigsStays() {
        let circuit = self.use("a", 1)
        func fail(_ failures: Int, at uptime: Int64, isNew: Bool) {
            self.circuits.registrationFailed(
                .init(config: Self.config("a", failures), uptime: uptime), of: circuit, isNew: isNew)
        }
        fail(1, at: 1, isNew: true)
        fail(2, at: 2, isNew: true)
        fail(1, at: 1, isNew: false)
        #expect(self.circuits.takeUnstored().map(\.1.uptime) == [2])
        fail(1, at: 1, isNew: false)
        #expect(self.circuits.takeUnstored().map(\.1.uptime) == [1])
    }

    /// The config that the file tells is in force, unless the file has not been told a newer one of this process.
    @Test func whatTheFileTellsIsInForce() {
        let circuit = self.use("a", 1)
        #expect(circuit.know(Self.read(1, epoch: 5)) { true }?.trip == .consecutiveFailures(1))
        #expect(circuit.know(Self.read(1, epoch: 6)) { true } == nil, "the config is known")
        #expect(circuit.know(Self.read(2, epoch: 7)) { true }?.trip == .consecutiveFailures(2))
        #expect(self.circuits.inForce[CircuitName("a")]?.trip == .consecutiveFailures(2))
        #expect(circuit.registeredConfig.trip == .consecutiveFailures(1))
        self.circuits.registrationFailed(.init(config: Self.config("a", 1), uptime: 1), of: circuit, isNew: true)
        circuit.register(KeptConfig(Self.config("a", 1)))
        _ = circuit.know(Self.read(3, epoch: 8)) { true }
        #expect(circuit.configInForce.trip == .consecutiveFailures(1))
    }

    /// Another thread has read something newer.
    @Test func whatIsNoLongerCurrentIsNotTaken() {
        let circuit = self.use("a", 1)
        _ = circuit.know(Self.read(1, epoch: 5)) { false }
        #expect(circuit.lastRead?.epoch == 5, "nothing was read before")
        _ = circuit.know(Self.read(2, epoch: 6)) { false }
        #expect(circuit.lastRead?.epoch == 5)
        #expect(circuit.counts.epoch == 5)
        #expect(circuit.configInForce.trip == .consecutiveFailures(1))
    }
}
