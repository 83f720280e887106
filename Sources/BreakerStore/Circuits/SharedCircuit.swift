import Synchronization

/// What a read needs: the circuit whose cache gets the decision, and the gate of the store that reads.
struct ReadContext: Sendable {
    let circuit: SharedCircuit
    let gate: Gate
}

/// A circuit in this process, with all that its handles share in all stores on the file: the cached decision, the last
/// reading, the configs, the counts, and the in-memory fallback.
final class SharedCircuit: Sendable {
    /// A config that is not stored in the file yet, and the uptime at which it was registered.
    final class Unstored: Sendable {
        let config: CircuitBreaker.Config
        let uptime: Uptime

        init(config: CircuitBreaker.Config, uptime: Uptime) {
            self.config = config
            self.uptime = uptime
        }
    }

    private struct Known {
        var registered: ConfigBox
        /// Whether the file has the registered config.
        var isStored = false
        /// The config in force, as far as this process knows: with it the circuit is registered if the file is
        /// replaced.
        var inForce: ConfigBox
        var unstored: Unstored?
        var lastRead: LastRead?
        var ownFailures = OwnFailures()

        init(_ config: ConfigBox) {
            self.registered = config
            self.inForce = config
        }
    }

    let key: CircuitName
    var name: String { self.key.text }
    let cache = DecisionCache()
    let counts = CircuitCounts()
    private let first: ConfigBox
    private let known: ForkSafeLock<Known>
    private let fallbackOfProcess = PerProcess { InMemoryFallback() }
    /// How many handles exist.
    private let uses = Atomic<Int>(0)
    /// The uptime at which a handle was last released.
    private let lastUse = Atomic<Int64>(0)
    /// The uptime at which this process last read the circuit in the file.
    private let readAt = Atomic<Int64>(0)

    init(_ config: ConfigBox) {
        self.key = CircuitName(config.config.name)
        self.first = config
        self.known = ForkSafeLock(Known(config))
        // The in-memory fallback decides by these rules until the file has been read.
        self.counts.update(nil, Rules(config.config), epoch: 0, windowGeneration: 0)
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

    /// Sets the config with which the circuit is being registered.
    func register(_ config: ConfigBox) {
        self.known.change { known in
            if known.registered.config != config.config {
                known.registered = config
                known.isStored = false
            }
            if known.inForce.config != config.config { known.inForce = config }
        }
    }

    /// Records that the file has the config, unless this process has registered a newer config since.
    func confirmStored(_ config: CircuitBreaker.Config) {
        self.known.change { known in
            guard known.registered.config == config else { return }
            known.isStored = true
            known.unstored = nil
        }
    }

    /// Adopts the config that the file has, unless this process has a newer config to store.
    func adoptStored(_ config: ConfigBox) {
        self.known.change { known in
            guard known.unstored == nil else { return }
            if known.registered.config != config.config { known.registered = config }
            if known.inForce.config != config.config { known.inForce = config }
            known.isStored = true
        }
    }

    /// Keeps a config that could not be stored, for the store's thread to store later.
    ///
    /// Call this only after the commit has failed: otherwise the store's thread might register the config a second
    /// time, over a config that another process has stored since.
    ///
    /// - Parameter isNew: whether it was just registered; an older config does not replace one that is kept already.
    func keep(_ config: Unstored, isNew: Bool) {
        self.known.change { known in
            if isNew || known.unstored == nil { known.unstored = config }
            known.isStored = false
        }
    }

    func drainUnstored() -> Unstored? {
        var drained: Unstored?
        self.known.change { swap(&drained, &$0.unstored) }
        return drained
    }

    // MARK: - Handles

    /// Counts a new handle; called under the lock of all circuits, so that no circuit in use is dropped.
    func useBegan() { self.uses.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a released handle.
    func useEnded(at uptime: Uptime) {
        self.lastUse.store(uptime.microseconds, ordering: .relaxed)
        // Releasing: a thread that reads that there is no handle reads this time, too.
        self.uses.wrappingSubtract(1, ordering: .releasing)
    }

    /// The uptime at which the last handle was released; nil while there are handles.
    var idleSince: Uptime? {
        guard self.uses.load(ordering: .acquiring) == 0 else { return nil }
        return Uptime(microseconds: self.lastUse.load(ordering: .relaxed))
    }

    /// For how many microseconds a circuit without handles is kept: a service may ask for a handle at each request, and
    /// must not register the circuit each time.
    private static let idleTime: Int64 = 60_000_000

    func isIdle(at uptime: Uptime) -> Bool {
        self.idleSince.map { $0.adding(Self.idleTime) <= uptime } ?? false
    }

    /// Whether nothing is left to save in the file.
    var isSettled: Bool { self.counts.isSettled && self.read { $0.unstored == nil } }

    // MARK: - What was read

    /// The rules of the in-memory fallback: those last read in the file, or this process's own if the file was never
    /// read.
    var rulesInMemory: Rules { .inMemory(self.lastRead?.rules ?? Rules(self.registeredConfig)) }

    /// Nil before the file was read.
    var lastRead: LastRead? { self.read { $0.lastRead } }

    /// Applies a reading of the file, unless the file has changed since: another thread may have a newer reading.
    ///
    /// If another file replaces this one, the circuit is registered there with the config that was read, not with an
    /// older config of this process.
    ///
    /// - Parameter isCurrent: whether the file is still unchanged; called while the lock is held: a newer reading must
    ///   wait for the lock, and so overwrites this reading.
    /// - Returns: the config in force if it has changed since the last reading, and whether the circuit is another one
    ///   of the same name.
    func update(
        _ read: LastRead, if isCurrent: () -> Bool
    ) -> (newConfig: CircuitBreaker.Config?, isAnotherCircuit: Bool) {
        let before = self.lastRead
        // The epoch of the counts is compared, too: without a wal-index header to compare, `isCurrent` is always true,
        // and another thread may have applied an older reading to the counts after a newer one.
        if let before, before.isSame(as: read), self.counts.epoch == read.epoch { return (nil, false) }
        var config: ConfigBox?
        if read.rules.isKnown, !(before.map(read.hasConfig) ?? false) {
            config = ConfigBox(CircuitBreaker.Config(name: self.name, group: read.group, rules: read.rules))
        }
        // False only if a process has committed since, or the gate was shut; then no cached decision is valid, and the
        // next call reads again.
        guard
            self.counts.update(
                (read.id, read.incarnation), read.rules, epoch: read.epoch, windowGeneration: read.windowGeneration,
                if: isCurrent)
        else {
            return (nil, false)
        }
        self.known.change { known in
            // The first reading is applied in any case: it replaces none, and the next one replaces it.
            guard known.lastRead == nil || isCurrent() else { return }
            // Another circuit, or one of another file: its epochs are not comparable.
            if let last = known.lastRead, last.incarnation != read.incarnation { known.ownFailures = OwnFailures() }
            known.lastRead = read
            if let config, known.isStored, known.inForce.config != config.config { known.inForce = config }
        }
        return (config?.config, before.map { $0.incarnation != read.incarnation } ?? false)
    }

    var lastReadUptime: Uptime { Uptime(microseconds: self.readAt.load(ordering: .relaxed)) }

    func setLastReadUptime(_ uptime: Uptime) { self.readAt.store(uptime.microseconds, ordering: .relaxed) }

    // MARK: - The in-memory fallback

    /// The in-memory fallback of this process; a child of `fork` has its own.
    private var fallback: InMemoryFallback { self.fallbackOfProcess.value }

    /// Applies one event to the in-memory fallback, which begins with what this process last read in the file.
    ///
    /// - Parameter offset: store time less uptime.
    func changeInMemory<Value: Sendable>(
        at now: StoreTime, offset: Int64, _ event: (inout Circuit, Moment, FailureList) -> Value
    ) -> Value {
        self.fallback.change(rules: self.rulesInMemory, from: self.lastRead, at: now, event) { read in
            read.inMemory(at: now, offset: offset, self.read { $0.ownFailures })
        }
    }

    /// Trips the in-memory fallback: its calls have reached a rate, or a trip by a rate could not be committed.
    ///
    /// - Parameter epoch: the epoch in which the fallback let the calls through; nil if the file did: then the
    ///   fallback's current epoch is used.
    func reachedRateInMemory(
        by counted: Circuit.WindowCounts, error: String?, at now: StoreTime, offset: Int64, epoch: Epoch? = nil
    ) {
        self.changeInMemory(at: now, offset: offset) { circuit, moment, _ in
            // Calls that the fallback let through in an earlier epoch don't trip it.
            _ = circuit.reachedRate(
                by: counted, epoch: epoch ?? circuit.epoch, error: error, at: moment, among: FailureList())
        }
    }

    /// Records a failure of this process that was committed, for the in-memory fallback to begin with.
    func recordOwnFailure(_ report: Report, inEpoch epoch: Epoch) {
        let failure = Circuit.Failure(at: report.at, worker: report.worker, sequence: report.sequence)
        self.known.change {
            let rules = $0.lastRead?.rules ?? Rules($0.registered.config)
            $0.ownFailures.add(failure, inEpoch: epoch, threshold: rules.threshold)
        }
    }

    /// Ends the in-memory fallback, because the file can be used again.
    func resetFallback() {
        self.fallbackOfProcess.known?.forget()
        self.counts.setFallback(inEpoch: nil)
    }
}
