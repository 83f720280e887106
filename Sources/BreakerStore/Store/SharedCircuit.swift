import Synchronization

/// The handles of a circuit in one store, which will ask for the circuit's answer next.
struct Asker: Sendable {
    let circuit: SharedCircuit
    let gate: Gate
}

/// What all handles of one circuit in one store share: the kept answer, what refusals tell, and what is counted.
final class SharedCircuit: Sendable {
    /// What the last reading of the file told about the circuit, for refusals and for memory.
    final class LastRead: Sendable {
        let group: String?
        let lastError: String?
        /// The epoch when the file was last read.
        let epoch: Int64
        /// The rules that were in force then.
        let rules: Rules

        init(group: String?, lastError: String?, epoch: Int64, rules: Rules) {
            self.group = group
            self.lastError = lastError
            self.epoch = epoch
            self.rules = rules
        }
    }

    let name: String
    /// Which circuit of the store it is, in the order in which they were registered.
    let number: Int
    let slot = AnswerSlot()
    let counts: CircuitCounts
    private let registered: ForkSafe<KeptConfig>
    private let storedLastRead = ForkSafe<LastRead?>(nil)
    /// How many handles there are.
    private let uses = Atomic<Int>(0)
    /// The uptime at which a handle went last.
    private let lastUse = Atomic<Int64>(0)

    init(_ config: KeptConfig, number: Int, counts: CircuitCounts) {
        self.name = config.config.name
        self.number = number
        self.counts = counts
        self.registered = ForkSafe(config)
    }

    /// Counts a call that was refused, or would have been.
    func countRefusal() { self.counts.lanes.add(.refused) }

    /// The config that this process registered last.
    var registeredConfig: CircuitBreaker.Config { self.registered.value.config }

    var keptConfig: KeptConfig { self.registered.value }

    func isRegistered(with config: CircuitBreaker.Config) -> Bool { self.registered.value.config == config }

    func register(_ config: KeptConfig) {
        if !self.isRegistered(with: config.config) { self.registered.value = config }
    }

    // MARK: - Handles

    /// A handle is being made; the caller has the table's lock, so that no circuit in use is dropped.
    func useBegan() { self.uses.wrappingAdd(1, ordering: .relaxed) }

    /// A handle has gone.
    func useEnded(at uptime: Int64) {
        self.lastUse.store(uptime, ordering: .relaxed)
        // Releasing: the thread that finds no handle finds the time, too.
        self.uses.wrappingSubtract(1, ordering: .releasing)
    }

    /// The uptime at which the last handle went; nil while there are handles.
    var idleSince: Int64? { self.uses.load(ordering: .acquiring) == 0 ? self.lastUse.load(ordering: .relaxed) : nil }

    // MARK: - What was read

    /// The rules by which memory guards: those that the file told last, or this process's own if the file was never
    /// read.
    var rulesInMemory: Rules { .inMemory(self.lastRead?.rules ?? Rules(self.registeredConfig)) }

    /// Nil before the file was read.
    var lastRead: LastRead? { self.storedLastRead.value }

    /// Notes what was read, unless the file has changed since: another thread may have noted something newer.
    ///
    /// - Parameter isCurrent: asked under the lock, so that a newer reading comes later.
    func note(_ read: LastRead, if isCurrent: () -> Bool) {
        self.storedLastRead.change { if $0 == nil || isCurrent() { $0 = read } }
    }
}
