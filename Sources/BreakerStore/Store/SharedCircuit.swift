/// The handles of a circuit in one store, which will ask for the circuit's answer next.
struct Asker: Sendable {
    let circuit: SharedCircuit
    let gate: Gate
}

/// What all handles of one circuit in one store share: the kept answer, and what refusals tell.
final class SharedCircuit: Sendable {
    /// What the last reading of the file told about the circuit, for refusals and for memory.
    struct LastRead: Sendable {
        var group: String?
        var lastError: String?
        /// The epoch when the file was last read; nil before that.
        var epoch: Int64?
        /// The rules that were in force then.
        var rules: Rules?
    }

    let name: String
    let slot = AnswerSlot()
    let refusals: Refusals.Counter
    private let registered: ForkSafe<CircuitBreaker.Config>
    private let storedLastRead: ForkSafe<LastRead>

    init(_ config: CircuitBreaker.Config, refusals: Refusals.Counter) {
        self.name = config.name
        self.refusals = refusals
        self.registered = ForkSafe(config)
        self.storedLastRead = ForkSafe(LastRead(group: config.group))
    }

    /// The config that this process registered last.
    var registeredConfig: CircuitBreaker.Config {
        get { self.registered.value }
        set { self.registered.value = newValue }
    }

    /// The rules by which memory guards: those that the file told last, or this process's own if the file was never
    /// read.
    var rulesInMemory: Rules { .inMemory(self.lastRead.rules ?? Rules(self.registeredConfig)) }

    var lastRead: LastRead {
        get { self.storedLastRead.value }
        set { self.storedLastRead.value = newValue }
    }

    /// Notes what was read, unless the file has changed since: another thread may have noted something newer.
    ///
    /// - Parameter isCurrent: asked under the lock, so that a newer reading comes later.
    func note(_ read: LastRead, if isCurrent: () -> Bool) {
        self.storedLastRead.change { if $0.epoch == nil || isCurrent() { $0 = read } }
    }
}
