import Synchronization

/// One open file, which one or more stores of this process share.
///
/// The core reports events to its state machine (`StoreLife`), and its parts do what the state machine decides.
final class StoreCore: Sendable {
    /// The progress of the search for overlong texts, since the file was opened.
    enum LongTextSearch: UInt8, AtomicRepresentable {
        case due, underWay, done
    }

    /// The state machine, and what must follow its state at once: gates and health listeners.
    struct LockedState {
        var life: StoreLife
        var gates = Gates()
        var healthListeners: [HealthListener] = []

        /// Opens or shuts the gates, and reports the health to the listeners.
        ///
        /// Cheap enough to run under the lock: some atomic stores, as each health listener has a thread of its own.
        mutating func followLife() {
            self.gates.setOpen(self.life.opensGates)
            if self.healthListeners.isEmpty { return }
            let health = self.life.health
            for listener in self.healthListeners { listener.add(health) }
        }
    }

    let file: StoreFile
    let configuration: CircuitStore.Configuration
    private let fileSystem: FileSystem
    let clock: StoreClock
    let state: Mutex<LockedState>
    let writer: Writer
    let answers: Answers
    let viewer = Viewer()
    let outbox = Outbox()
    let degradedMark = DegradedMark()
    let circuits = UsedCircuits()
    let counting: StoreCounts
    let countingThread = CountingThread()
    let countingJobs = CountingJobs()
    let rateChecks = RateChecks()
    let rounds = CountingRounds()
    let feed = EventFeed()
    /// Whether the board may show this worker as degraded.
    let isMarkedDegraded = Atomic<Bool>(false)
    let isSweeping = Atomic<Bool>(false)
    let longTexts = Atomic<LongTextSearch>(.due)
    private let isRepairRequested = Atomic<Bool>(false)
    /// Whether the database that was opened again may lack this process's registrations.
    let needsRegistration = Atomic<Bool>(false)
    /// What this process knows of a file that was lost, until its circuits are restored.
    let lost = Mutex<LostFile?>(nil)
    /// The uptime at which this process last saw the open file in its place.
    let lastInPlace = Atomic<Int64>(.min)
    let thread = StoreThread()
    /// No caller tries to start the store's thread before this uptime; `.max` while the thread runs or is started.
    private let nextStart = Atomic<Int64>(.min)
    /// Wakes calls at their deadlines; nil if the store has the user's clock, by which each call sleeps alone.
    var timer: SharedTimer? { self.clock.isSystem ? self.sharedTimer.value : nil }
    let sharedTimer = PerProcess { SharedTimer() }
    let keys = ReportKeys()
    let random = RandomSource()
    private let forkGate = Gate()

    /// Opens the file and starts the thread.
    ///
    /// - Parameter isForeseen: whether the path was resolved without its directory, which could not be opened then: the
    ///   file is where it would be by `StoreFile.init(foreseeing:)`.
    init(
        file: StoreFile, configuration: CircuitStore.Configuration, _ fileSystem: FileSystem = FileSystem(),
        isForeseen: Bool = false
    ) throws(BreakerStoreError) {
        self.file = file
        self.configuration = configuration
        self.fileSystem = fileSystem
        self.clock = StoreClock(configuration.clock)
        self.writer = Writer(file, configuration, self.clock, self.random)
        self.answers = Answers(file, self.clock, syncs: configuration.syncs)
        self.counting = StoreCounts(file, self.clock, self.circuits)
        let life = StoreLife(
            path: file.path,
            firstRetry: configuration.firstRetry,
            maintainsAlways: configuration.forgetIdleAfter != nil
        )
        self.state = Mutex(LockedState(life: life), rank: .life)
        do throws(BreakerStoreError) {
            if isForeseen { try file.requireDirectory(on: fileSystem) }
            try self.open()
        } catch {
            guard configuration.whenUnavailable == .degrade, error.code != .invalidConfiguration else { throw error }
            self.lose(error)
        }
        guard self.startThread() else {
            let error = BreakerStoreError(code: .unavailable, message: "could not start a thread", path: file.path)
            guard configuration.whenUnavailable == .degrade else { throw error }
            self.lose(error)
            return
        }
        if self.read({ $0.maintainsAlways }) { self.thread.wake() }
        self.writeNotes()
    }

    /// Starts the store's thread, unless it runs; false if the system has no thread left.
    ///
    /// Without the thread, the in-memory fallback decides about calls. Each call that it admits tries to start the
    /// thread again, at most once a second.
    @discardableResult
    func startThread() -> Bool {
        let next = self.nextStart.load(ordering: .relaxed)
        if next == .max { return true }
        let uptime = self.clock.uptime
        guard next <= uptime.microseconds,
            self.nextStart.compareExchange(expected: next, desired: .max, ordering: .relaxed).exchanged
        else { return false }
        if self.thread.start({ self.runThread() }) { return true }
        self.nextStart.store(uptime.adding(1_000_000).microseconds, ordering: .relaxed)
        return false
    }

    // MARK: - The state machine

    /// Applies an event to the state machine, does the resulting work, and returns the decision.
    @discardableResult
    func apply<Decision>(_ event: (inout StoreLife) -> (Decision, StoreLife.Actions)) -> Decision {
        let (decision, actions) = self.state.withLock { state in
            let result = event(&state.life)
            state.followLife()
            return result
        }
        if let error = actions.error {
            // First: when a caller learns of the loss, other processes must already see it.
            self.showLoss()
            for ticket in actions.failed { ticket.fail(error) }
        }
        if actions.wakesThread { self.thread.wake() }
        return decision
    }

    func apply(_ event: (inout StoreLife) -> StoreLife.Actions) {
        self.apply { ((), event(&$0)) }
    }

    /// Reads the state machine.
    func read<Answer>(_ question: (StoreLife) -> Answer) -> Answer { self.state.withLock { question($0.life) } }

    /// Applies an event that results in no work.
    @discardableResult
    func update<Answer>(_ event: (inout StoreLife) -> Answer) -> Answer {
        self.state.withLock { state in
            let answer = event(&state.life)
            // Under the lock: otherwise a later thread that shuts the gates could act before one that opens them.
            state.followLife()
            return answer
        }
    }

    // MARK: - Opening

    /// Opens the file for the first time.
    private func open() throws(BreakerStoreError) {
        try self.use(self.openFile(isSuspect: false), as: .other)
    }

    /// Lets calls use the file that was opened.
    private func use(_ opened: Opened, as reopened: Reopened) throws(BreakerStoreError) {
        let header: Gates.Header?
        do throws(BreakerStoreError) {
            header = try self.answers.use(opened, as: reopened)
        } catch {
            self.writer.closeConnections()
            throw error
        }
        self.state.withLock { state in
            state.gates.setHeader(header)
            state.life.opened(mayCacheDecisions: header != nil)
            state.followLife()
        }
        self.counting.resetBoard()
        self.longTexts.store(.due, ordering: .relaxed)
        self.outbox.append(opened.repaired)
    }

    /// Opens the file at the path again, and registers the circuits that this process uses in it.
    ///
    /// The path may lead to another file by now. The caller leads.
    func reopen(isSuspect: Bool) throws(BreakerStoreError) {
        let wasInPlace = self.answers.hasDatabaseInPlace
        self.rememberFile()
        // All connections are closed first: while any connection is open, SQLite gives a new connection the old
        // wal-index. The viewer comes last: it opens connections only while `answers` is open.
        self.answers.close()
        self.writer.closeConnections()
        self.viewer.close()
        try self.file.requireDirectory(on: self.fileSystem)
        let opened = try self.openFile(isSuspect: isSuspect)
        let reopened = try self.restoreCircuits(in: opened, wasInPlace: wasInPlace)
        try self.use(opened, as: reopened)
        self.lost.withLock { $0 = nil }
        guard reopened == .same else { return }
        self.needsRegistration.store(true, ordering: .relaxed)
        try self.writer.register(self.circuits.inForce, isSameDatabase: true, restoring: nil)
        self.needsRegistration.store(false, ordering: .relaxed)
    }

    // MARK: - Gates

    func add(_ gate: Gate) { self.state.withLock { $0.gates.add(gate) } }

    func remove(_ gate: Gate) { self.state.withLock { $0.gates.remove(gate) } }

    /// Whether this process is a fork of the process that opened the file.
    var isForked: Bool { self.forkGate.isForked }

    /// Throws `forked` in a child of `fork`, which must not touch the parent's connections and locks.
    ///
    /// A call that was under way at the fork continues in the child, too.
    func requireOwnProcess() throws(BreakerStoreError) {
        if self.isForked { throw .forked(self.file.path) }
    }

    // MARK: - Health

    var isDegraded: Bool { self.isForked || self.read { $0.isDegraded } }
    var isClosed: Bool { self.read { $0.isClosed } }
    var health: StoreHealth { self.read { $0.health } }

    func add(_ listener: HealthListener, withCurrent: Bool) {
        self.state.withLock { state in
            state.healthListeners.append(listener)
            if withCurrent { listener.add(state.life.health) } else { listener.setCurrent(state.life.health) }
        }
    }

    func remove(_ listener: HealthListener) {
        self.state.withLock { $0.healthListeners.removeAll { $0 === listener } }
    }

    /// Degrades the store: the in-memory fallback decides about calls until the store's thread has recovered the file.
    func lose(_ error: BreakerStoreError) {
        let loss = self.loss(error)
        self.apply { $0.lost(loss) }
    }

    func loss(_ error: BreakerStoreError) -> StoreLife.Loss {
        StoreLife.Loss(since: self.clock.host.wallDate, error: error)
    }

    /// Handles the error of a read.
    ///
    /// A broken file counts as lost. If SQLite refused a value, such as an overlong text, the next commit deletes its
    /// row.
    func readFailed(_ error: BreakerStoreError) {
        if error.concernsFile { self.lose(error) }
        if error.isOfRefusedValue { self.requestRepair(after: error) }
    }

    /// Posts a change that throws the read's error once: the writer then repairs the rows (`Writer.retry`), and the
    /// second try commits.
    private func requestRepair(after error: BreakerStoreError) {
        guard !self.isRepairRequested.exchange(true, ordering: .relaxed) else { return }
        let isFirstTry = Atomic<Bool>(true)
        let work: Work<Void> = { _ throws(BreakerStoreError) in
            if isFirstTry.exchange(false, ordering: .relaxed) { throw error }
        }
        let endRepair: @Sendable () -> Void = { [weak self] in
            self?.isRepairRequested.store(false, ordering: .relaxed)
        }
        self.post(until: self.writer.deadline, then: endRepair, orElse: { _ in endRepair() }, work)
    }

    /// Makes the store's thread commit the tickets that wait, and close the file.
    func shutDownSoon() {
        let deadline = Deadline(after: self.configuration.busyTimeout)
        self.apply { $0.closeRequested(until: deadline) }
    }

    func waitForEnd(until deadline: Deadline) {
        // Otherwise another store on the file keeps the core open, or no thread runs.
        guard self.isClosed, self.nextStart.load(ordering: .relaxed) == .max else { return }
        _ = self.thread.waitForEnd(until: deadline)
    }

    // MARK: - Keys

    /// A random number that is not negative.
    func newToken() -> Int64 { Int64(self.random.next() >> 1) }

    /// The token of a probe of this process, by which its descendants find that they are a part of the probe.
    func newProbeToken() -> Int64 {
        let token = self.newToken()
        return RunningProcess.current?.marking(token) ?? token
    }

    /// Whether a worker is alive; true in a fork, which must not ask.
    func isAlive(_ worker: WorkerID) -> Bool { self.isForked || self.answers.isAlive(worker) }
}
