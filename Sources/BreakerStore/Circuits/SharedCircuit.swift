import Synchronization

/// For a look: the circuit whose slot keeps the answer, and the gate of the store that asks.
struct Asker: Sendable {
    let circuit: SharedCircuit
    let gate: Gate
}

/// A circuit in this process, with all that its handles share in all stores on the file: the kept answer, the last
/// reading, the configs, the counts, and the circuit in memory.
final class SharedCircuit: Sendable {
    /// A config that has not been stored, and the uptime at which it was registered.
    final class Unstored: Sendable {
        let config: CircuitBreaker.Config
        let uptime: Int64

        init(config: CircuitBreaker.Config, uptime: Int64) {
            self.config = config
            self.uptime = uptime
        }
    }

    private struct Known {
        var registered: KeptConfig
        /// Whether the file has the registered config.
        var isStored = false
        /// The config with which this process registers the circuit if the file is replaced.
        var inForce: KeptConfig
        var unstored: Unstored?
        var lastRead: LastRead?
        var ownFailures = OwnFailures()

        init(_ config: KeptConfig) {
            self.registered = config
            self.inForce = config
        }
    }

    let key: CircuitName
    var name: String { self.key.text }
    let slot = AnswerSlot()
    let counts = CircuitCounts()
    private let first: KeptConfig
    private let known: ForkSafeLock<Known>
    private let inMemory = PerProcess { MemoryGuard() }
    /// How many handles there are.
    private let uses = Atomic<Int>(0)
    /// The uptime at which a handle last went.
    private let lastUse = Atomic<Int64>(0)
    /// The uptime at which this process last looked at the circuit in the file.
    private let looked = Atomic<Int64>(0)

    init(_ config: KeptConfig) {
        self.key = CircuitName(config.config.name)
        self.first = config
        self.known = ForkSafeLock(Known(config))
        // Memory guards by these rules until the file has been read.
        self.counts.know(nil, Rules(config.config), epoch: 0, windowGeneration: 0)
    }

    private func read<Part: Sendable>(_ part: (Known) -> Part) -> Part {
        self.known.read(orInAChild: Known(self.first), part)
    }

    // MARK: - Configs

    /// The config that this process registered last.
    var registeredConfig: CircuitBreaker.Config { self.read { $0.registered }.config }

    /// The config in force, as far as this process knows.
    var configInForce: CircuitBreaker.Config { self.read { $0.inForce }.config }

    /// Whether this process registered this config last, and the file has the config.
    func isRegistered(with config: CircuitBreaker.Config) -> Bool {
        self.read { $0.isStored && $0.registered.config == config }
    }

    /// Takes over the config with which the circuit is being registered.
    func register(_ config: KeptConfig) {
        self.known.change { known in
            if known.registered.config != config.config {
                known.registered = config
                known.isStored = false
            }
            if known.inForce.config != config.config { known.inForce = config }
        }
    }

    /// Notes that the file has the config, unless this process has registered a newer config meanwhile.
    func noteStored(_ config: CircuitBreaker.Config) {
        self.known.change { known in
            guard known.registered.config == config else { return }
            known.isStored = true
            known.unstored = nil
        }
    }

    /// Uses the circuit from now on with the config that the file has, unless this process has a newer config to store.
    func takeStored(_ config: KeptConfig) {
        self.known.change { known in
            guard known.unstored == nil else { return }
            if known.registered.config != config.config { known.registered = config }
            if known.inForce.config != config.config { known.inForce = config }
            known.isStored = true
        }
    }

    /// Keeps a config that could not be stored.
    ///
    /// Call this only after the commit has failed: otherwise the store's thread might register the config a second
    /// time, over a config that another process has stored since.
    ///
    /// - Parameter isNew: whether it was registered just now; otherwise a config that is kept already stays.
    func keep(_ one: Unstored, isNew: Bool) {
        self.known.change { known in
            if isNew || known.unstored == nil { known.unstored = one }
            known.isStored = false
        }
    }

    func takeUnstored() -> Unstored? {
        var taken: Unstored?
        self.known.change { swap(&taken, &$0.unstored) }
        return taken
    }

    // MARK: - Handles

    /// Called when a handle is made, under the lock of all circuits, so that no circuit in use is dropped.
    func useBegan() { self.uses.wrappingAdd(1, ordering: .relaxed) }

    /// Called when a handle has gone.
    func useEnded(at uptime: Int64) {
        self.lastUse.store(uptime, ordering: .relaxed)
        // Releasing: a thread that finds no handle finds this time, too.
        self.uses.wrappingSubtract(1, ordering: .releasing)
    }

    /// The uptime at which the last handle went; nil while there are handles.
    var idleSince: Int64? { self.uses.load(ordering: .acquiring) == 0 ? self.lastUse.load(ordering: .relaxed) : nil }

    /// For how many microseconds a circuit without handles is kept, so that a service that asks for a handle at each
    /// request does not register its circuits more often.
    private static let idleTime: Int64 = 60_000_000

    func isIdle(at uptime: Int64) -> Bool {
        self.idleSince.map { $0.addingSaturating(Self.idleTime) <= uptime } ?? false
    }

    /// Whether nothing is left to save in the file.
    var isSettled: Bool { self.counts.isSettled && self.read { $0.unstored == nil } }

    // MARK: - What was read

    /// The rules by which memory guards: those last read in the file, or this process's own if the file was never read.
    var rulesInMemory: Rules { .inMemory(self.lastRead?.rules ?? Rules(self.registeredConfig)) }

    /// Nil before the file was read.
    var lastRead: LastRead? { self.read { $0.lastRead } }

    /// Takes over a reading of the file, unless the file has changed since: another thread may have a newer reading.
    ///
    /// If another file takes the place of this file, the circuit is registered there with the config that was read, not
    /// with an older config of this process.
    ///
    /// - Parameter isCurrent: whether the file is still unchanged; asked while the lock is held: a newer reading must
    ///   wait for the lock, and so overwrites this reading.
    /// - Returns: the config in force if it has changed since the last reading, and whether the circuit was made again.
    func know(_ read: LastRead, if isCurrent: () -> Bool) -> (newConfig: CircuitBreaker.Config?, isAnother: Bool) {
        let before = self.lastRead
        // The counts are compared, too: without a header, an older reading may have come after a newer one.
        if let before, before.isSame(as: read), self.counts.epoch == read.epoch { return (nil, false) }
        var config: KeptConfig?
        if read.rules.isKnown, !(before.map(read.hasConfig) ?? false) {
            config = KeptConfig(CircuitBreaker.Config(name: self.name, group: read.group, rules: read.rules))
        }
        // Refused only if a process has committed meanwhile, or the gate was shut; then no kept answer counts, and the
        // next call looks again.
        guard
            self.counts.know(
                (read.id, read.incarnation), read.rules, epoch: read.epoch, windowGeneration: read.windowGeneration,
                if: isCurrent)
        else {
            return (nil, false)
        }
        self.known.change { known in
            guard known.lastRead == nil || isCurrent() else { return }
            // Another circuit, or another file's: its epochs are of another clock.
            if let last = known.lastRead, last.incarnation != read.incarnation { known.ownFailures = OwnFailures() }
            known.lastRead = read
            if let config, known.isStored, known.inForce.config != config.config { known.inForce = config }
        }
        return (config?.config, before.map { $0.incarnation != read.incarnation } ?? false)
    }

    var lastLook: Int64 { self.looked.load(ordering: .relaxed) }

    func noteLook(at uptime: Int64) { self.looked.store(uptime, ordering: .relaxed) }

    // MARK: - Memory

    /// The circuit in memory, while the file can't be used; a child of `fork` has its own.
    private var memory: MemoryGuard { self.inMemory.value }

    /// Applies one event to the circuit in memory, which begins with what this process has last read in the file.
    ///
    /// - Parameter offset: store time less uptime.
    func changeInMemory<Value: Sendable>(
        at now: StoreTime, offset: Int64, _ event: (inout Circuit, Moment, FailureList) -> Value
    ) -> Value {
        self.memory.change(rules: self.rulesInMemory, from: self.lastRead, at: now, event) { read in
            read.inMemory(at: now, offset: offset, self.read { $0.ownFailures })
        }
    }

    /// Opens the circuit in memory: its calls have reached a share, or a trip by a share could not be committed.
    ///
    /// - Parameter epoch: the epoch in which memory let the calls through; nil if the file let them through: then the
    ///   present epoch of memory is used.
    func shareReachedInMemory(
        by counted: Circuit.WindowCounts, error: String?, at now: StoreTime, offset: Int64, epoch: Int64? = nil
    ) {
        self.changeInMemory(at: now, offset: offset) { circuit, moment, _ in
            // Calls that memory let through in an earlier epoch of its circuit don't open the circuit.
            _ = circuit.shareReached(
                by: counted, epoch: epoch ?? circuit.epoch, error: error, at: moment, among: FailureList())
        }
    }

    /// Notes a failure of this process that the file has taken, for memory.
    func noteOwn(_ report: Report, inEpoch epoch: Int64) {
        let failure = Circuit.Failure(at: report.at, worker: report.worker, sequence: report.sequence)
        self.known.change {
            let rules = $0.lastRead?.rules ?? Rules($0.registered.config)
            $0.ownFailures.add(failure, inEpoch: epoch, threshold: rules.threshold)
        }
    }

    /// Called when the file can be used again.
    func forgetMemory() {
        self.inMemory.known?.forget()
        self.counts.noteMemory(guardsIn: nil)
    }
}
