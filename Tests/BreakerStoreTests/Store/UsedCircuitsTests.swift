import Testing

@testable import BreakerStore

/// The table of the circuits that this process uses, without a file.
@Suite struct UsedCircuitsTests {
    private static let minute: Uptime = 60_000_000
    private let circuits = UsedCircuits()

    private static func config(_ name: String, _ failures: Int = 5) -> CircuitBreaker.Config {
        CircuitBreaker.Config(name: name, trip: .consecutiveFailures(failures))
    }

    private func use(_ name: String, _ failures: Int = 5) -> SharedCircuit {
        self.circuits.use(registering: ConfigBox(Self.config(name, failures)))
    }

    private static func read(_ failures: Int, epoch: Epoch, incarnation: Int64 = 1) -> SharedCircuit.LastRead {
        let rules = Rules(Self.config("a", failures))
        let circuit = Circuit(rules: rules, at: epoch.latestStart)
        return SharedCircuit.LastRead(
            CircuitRow(id: 1, incarnation: incarnation, group: nil, lastUsed: 0, circuit: circuit), at: circuit.since,
            StoreClock(ManualHostClock()))
    }

    // MARK: - Handles

    @Test func goesAMinuteAfterItsLastHandle() {
        let circuit = self.use("a")
        let other = self.use("b")
        #expect(self.use("a") === circuit)
        circuit.useEnded(at: 1)
        circuit.useEnded(at: 5)
        for (uptime, left) in [(Self.minute.adding(4), ["a", "b"]), (Self.minute.adding(5), ["b"])] {
            #expect(!self.circuits.dropIdle(at: uptime))
            #expect(self.circuits.all.map(\.name).sorted() == left)
        }
        #expect(self.circuits.drainUnused().map(\.since) == [5])
        #expect(self.circuits[CircuitName("a")] == nil)
        #expect(other.idleSince == nil)
    }

    /// Not at once: what this process has dropped must be drained, and a circuit comes back with other numbers.
    @Test func someOfThemGoOnceTheFileKnowsOfThoseBefore() {
        for number in 0..<1_000 { self.use("\(number)").useEnded(at: 1) }
        var drained = 0
        var passes = 0
        while self.circuits.dropIdle(at: Self.minute.adding(1)) {
            passes += 1
            let left = self.circuits.all.count
            #expect(self.circuits.dropIdle(at: Self.minute.adding(1)), "the file has not been drained")
            #expect(self.circuits.all.count == left)
            drained += self.circuits.drainUnused().count
            #expect(drained + left == 1_000)
        }
        #expect(passes == 3)
        #expect(drained + self.circuits.drainUnused().count == 1_000)
        #expect(self.circuits.isEmpty)
    }

    @Test func whatTheFileHasNotBeenReportedStays() {
        let circuit = self.use("a")
        self.circuits.registrationFailed(.init(config: Self.config("a"), uptime: 1), of: circuit, isNew: true)
        circuit.useEnded(at: 1)
        #expect(!self.circuits.dropIdle(at: Self.minute.adding(1)))
        #expect(!self.circuits.isEmpty)
        circuit.counts.lanes.add(.succeeded)
        circuit.confirmStored(Self.config("a"))
        #expect(!self.circuits.dropIdle(at: Self.minute.adding(1)))
        #expect(!self.circuits.isEmpty, "its call has not been drained")
    }

    @Test func onlyWithoutHandlesAForgottenOneGoes() {
        let circuit = self.use("a")
        self.circuits.drop(forgotten: ["a", "b"])
        #expect(!self.circuits.isEmpty)
        circuit.useEnded(at: 1)
        self.circuits.drop(forgotten: ["a", "b"])
        #expect(self.circuits.isEmpty)
        #expect(self.circuits.drainUnused().map(\.since) == [1], "another process may have registered it again")
    }

    /// Names that come and go must not make each tick of a short window look at all circuits.
    @Test func theListOfRatesOutlivesOtherNames() {
        let rule = TripRule.failureRate(0.5, minimumCalls: 2, within: .seconds(1))
        let circuit = self.circuits.use(registering: ConfigBox(.init(name: "rate", trip: rule)))
        #expect(self.circuits.withRateRules.map(\.name) == ["rate"])
        self.use("a").useEnded(at: 1)
        #expect(self.circuits.withRateRules.map(\.name) == ["rate"])
        circuit.useEnded(at: 1)
        _ = self.circuits.dropIdle(at: Self.minute.adding(1))
        #expect(self.circuits.withRateRules.isEmpty)
    }

    /// While the gates are shut, a thread with an older reading may come after a thread with a newer reading.
    @Test func countsThatAnOlderReadingHasSetBackAreSetRight() {
        let circuit = self.use("a")
        let read = Self.read(1, epoch: 5)
        _ = circuit.update(read, if: { true })
        circuit.counts.update(
            (read.id, read.incarnation), read.rules, epoch: read.epoch.adding(-1),
            windowGeneration: WindowGeneration(read.windowGeneration.rawValue - 1))
        _ = circuit.update(read, if: { true })
        #expect(circuit.counts.epoch == read.epoch)
    }

    // MARK: - Configs

    /// A thread that asks for a config which another one is just registering registers it, too.
    @Test func onlyWhatIsStoredIsKnown() {
        let circuit = self.use("a", 1)
        let config = Self.config("a", 1)
        #expect(self.circuits.use(config) == nil)
        circuit.confirmStored(config)
        #expect(self.circuits.use(config) === circuit)
        #expect(self.circuits.use(Self.config("a", 2)) == nil)
        _ = self.use("a", 2)
        circuit.confirmStored(config)
        #expect(self.circuits.use(Self.config("a", 2)) == nil, "the older one was stored")
        _ = self.use("a", 1)
        self.circuits.registrationFailed(.init(config: config, uptime: 1), of: circuit, isNew: true)
        #expect(self.circuits.use(config) == nil)
        #expect(self.circuits.drainUnstored().map(\.1.uptime) == [1])
        #expect(self.circuits.drainUnstored().isEmpty)
        circuit.confirmStored(config)
        #expect(self.circuits.use(config) === circuit)
    }

    /// A handle for a name takes the config that is stored, unless this process has a newer one to tell.
    @Test func theStoredConfigIsTakenOver() {
        let (circuit, isNew) = self.circuits.use(orMakeWith: ConfigBox(Self.config("a", 1)))
        #expect(isNew && !self.circuits.use(orMakeWith: ConfigBox(Self.config("a", 2))).isNew)
        circuit.adoptStored(ConfigBox(Self.config("a", 2)))
        #expect(self.circuits.use(Self.config("a", 2)) === circuit)
        #expect(circuit.configInForce.trip == .consecutiveFailures(2))
        self.circuits.registrationFailed(.init(config: Self.config("a", 3), uptime: 1), of: circuit, isNew: true)
        circuit.adoptStored(ConfigBox(Self.config("a", 1)))
        #expect(circuit.registeredConfig.trip == .consecutiveFailures(2))
    }

    /// The store's thread could not store what it had taken; a caller could not store a newer config meanwhile.
    @Test func theNewerOfTwoUnstoredConfigsStays() {
        let circuit = self.use("a", 1)
        func fail(_ failures: Int, at uptime: Uptime, isNew: Bool) {
            self.circuits.registrationFailed(
                .init(config: Self.config("a", failures), uptime: uptime), of: circuit, isNew: isNew)
        }
        fail(1, at: 1, isNew: true)
        fail(2, at: 2, isNew: true)
        fail(1, at: 1, isNew: false)
        #expect(self.circuits.drainUnstored().map(\.1.uptime) == [2])
        fail(1, at: 1, isNew: false)
        #expect(self.circuits.drainUnstored().map(\.1.uptime) == [1])
    }

    /// The config in the file is in force, unless this process has a newer one that is not in the file yet.
    @Test func whatTheFileSaysIsInForce() {
        let circuit = self.use("a", 1)
        circuit.confirmStored(Self.config("a", 1))
        func read(_ failures: Int, epoch: Epoch) -> TripRule? {
            circuit.update(Self.read(failures, epoch: epoch), if: { true }).newConfig?.trip
        }
        #expect(read(1, epoch: 5) == .consecutiveFailures(1))
        #expect(read(1, epoch: 6) == nil, "the config is known")
        #expect(read(2, epoch: 7) == .consecutiveFailures(2))
        #expect(self.circuits.inForce[CircuitName("a")]?.trip == .consecutiveFailures(2))
        #expect(circuit.registeredConfig.trip == .consecutiveFailures(1))
        // This process is registering another one.
        circuit.register(ConfigBox(Self.config("a", 4)))
        _ = read(3, epoch: 8)
        #expect(circuit.configInForce.trip == .consecutiveFailures(4))
    }

    /// Another thread has read something newer.
    @Test func whatIsNoLongerCurrentIsNotTaken() {
        let circuit = self.use("a", 1)
        _ = circuit.update(Self.read(1, epoch: 5), if: { false })
        #expect(circuit.lastRead?.epoch == 5, "nothing was read before")
        _ = circuit.update(Self.read(2, epoch: 6), if: { false })
        #expect(circuit.lastRead?.epoch == 5)
        #expect(circuit.counts.epoch == 5)
        #expect(circuit.configInForce.trip == .consecutiveFailures(1))
    }

    /// The counts have learned of the circuit before it was first looked at, and do not take what is not current: it
    /// must not be taken for known, or the counts would never learn of it.
    @Test func whatTheCountsDidNotTakeIsReadAgain() {
        let circuit = self.use("a", 1)
        circuit.counts.update(incarnation: 1, Rules(Self.config("a", 1)), epoch: 4)
        _ = circuit.update(Self.read(2, epoch: 6), if: { false })
        _ = circuit.update(Self.read(2, epoch: 6), if: { true })
        #expect(circuit.counts.epoch == 6)
        #expect(circuit.lastRead?.epoch == 6)
    }

    @Test func aCircuitThatWasRecreatedIsNews() {
        let circuit = self.use("a")
        #expect(!circuit.update(Self.read(1, epoch: 5), if: { true }).isAnotherCircuit)
        #expect(!circuit.update(Self.read(1, epoch: 6), if: { true }).isAnotherCircuit)
        #expect(circuit.update(Self.read(1, epoch: 7, incarnation: 2), if: { true }).isAnotherCircuit)
    }
}
