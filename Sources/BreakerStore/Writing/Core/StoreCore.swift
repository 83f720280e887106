import Synchronization

/// The open file of one or more stores of this process.
///
/// The core reports events to the store's life, and has its parts do what the life decides.
final class StoreCore: Sendable {
    /// How far the search for texts that are too long to be read has come, since the file was opened.
    enum LongTextSearch: UInt8, AtomicRepresentable {
        case due, underWay, done
    }

    /// The life, and the gates that must follow it at once.
    struct Guarded {
        var life: StoreLife
        var gates = Gates()
        var healthListeners: [HealthListener] = []

        /// Runs under the lock, but takes only some atomic stores: each health listener has a thread of its own.
        mutating func followLife() {
            self.gates.follow(self.life.opensGates)
            if self.healthListeners.isEmpty { return }
            let health = self.life.health
            for listener in self.healthListeners { listener.add(health) }
        }
    }

    let file: StoreFile
    let configuration: CircuitStore.Configuration
    private let fileSystem: FileSystem
    let clock: StoreClock
    let guarded: Mutex<Guarded>
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
    /// Whether the board may say that this worker is degraded.
    let isMarkedDegraded = Atomic<Bool>(false)
    let isSweeping = Atomic<Bool>(false)
    let longTexts = Atomic<LongTextSearch>(.due)
    private let isToHeal = Atomic<Bool>(false)
    /// Whether the database that was opened again may lack this process's registrations.
    let isToRegister = Atomic<Bool>(false)
    /// What is known of a file that was lost, until its circuits are restored.
    let lost = Mutex<LostFile?>(nil)
    /// The uptime at which this process last saw the open file in its place.
    let lastInPlace = Atomic<Int64>(.min)
    let thread = StoreThread()
    /// No thread tries to start the store's thread before this uptime; the greatest number once the thread runs.
    private let nextStart = Atomic<Int64>(.min)
    /// Wakes calls at their deadlines; nil if the store has a clock of its own, by which each call sleeps alone.
    var timer: SharedTimer? { self.clock.isSystem ? self.sharedTimer.value : nil }
    let sharedTimer = PerProcess { SharedTimer() }
    let keys = ReportKeys()
    let random = RandomSource()
    private let forkGate = Gate()

    /// Opens the file and starts the thread.
    ///
    /// - Parameter isForeseen: whether the directory could not be opened when the path was resolved.
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
            looksAroundAlways: configuration.forgetIdleAfter != nil
        )
        self.guarded = Mutex(Guarded(life: life), rank: .life)
        do throws(BreakerStoreError) {
            if isForeseen { try file.requireDirectory(on: fileSystem) }
            try self.open()
        } catch {
            guard configuration.whenUnavailable == .degrade, error.code != .invalidConfiguration else { throw error }
            self.lose(error)
        }
        guard self.startThread() else {
            let error = BreakerStoreError(code: .unavailable, message: "no thread can be started", path: file.path)
            guard configuration.whenUnavailable == .degrade else { throw error }
            self.lose(error)
            return
        }
        if self.ask({ $0.looksAroundAlways }) { self.thread.wake() }
        self.writeNotes()
    }

    /// Starts the store's thread, unless it runs; false if the system has no thread left.
    ///
    /// Without the thread, memory guards the circuits. Each call that memory lets through tries to start the thread
    /// again, at most once a second.
    @discardableResult
    func startThread() -> Bool {
        let next = self.nextStart.load(ordering: .relaxed)
        if next == .max { return true }
        let uptime = self.clock.uptime
        guard next <= uptime,
            self.nextStart.compareExchange(expected: next, desired: .max, ordering: .relaxed).exchanged
        else { return false }
        if self.thread.start({ self.runThread() }) { return true }
        self.nextStart.store(uptime.addingSaturating(1_000_000), ordering: .relaxed)
        return false
    }

    // MARK: - The life

    /// Reports an event to the life, does what the life asks for, and returns what the life decided.
    @discardableResult
    func happened<Decision>(_ event: (inout StoreLife) -> (Decision, StoreLife.Actions)) -> Decision {
        let (decision, actions) = self.guarded.withLock { guarded in
            let outcome = event(&guarded.life)
            guarded.followLife()
            return outcome
        }
        if let error = actions.error {
            // First, so that a caller who learns of the loss finds that other processes see it.
            self.showLoss()
            for ticket in actions.failed { ticket.fail(error) }
        }
        if actions.wakesThread { self.thread.wake() }
        return decision
    }

    func happened(_ event: (inout StoreLife) -> StoreLife.Actions) {
        self.happened { ((), event(&$0)) }
    }

    func ask<Answer>(_ question: (StoreLife) -> Answer) -> Answer { self.guarded.withLock { question($0.life) } }

    /// Reports an event to the life that needs no work afterwards.
    @discardableResult
    func report<Answer>(_ event: (inout StoreLife) -> Answer) -> Answer {
        self.guarded.withLock { guarded in
            let answer = event(&guarded.life)
            // Under the lock: otherwise a thread that opens the gates could act after a later thread that shuts them.
            guarded.followLife()
            return answer
        }
    }

    // MARK: - Opening

    /// Opens the file for the first time.
    private func open() throws(BreakerStoreError) {
        try self.use(self.openFile(isSuspect: false), .other)
    }

    /// Lets calls use the file that was opened.
    private func use(_ opened: Opened, _ reopened: Reopened) throws(BreakerStoreError) {
        let header: Gates.Header?
        do throws(BreakerStoreError) {
            header = try self.answers.opened(opened, reopened)
        } catch {
            self.writer.shut()
            throw error
        }
        self.guarded.withLock { guarded in
            guarded.gates.take(header)
            guarded.life.opened(mayKeepAnswers: header != nil)
            guarded.followLife()
        }
        self.counting.fileOpened()
        self.longTexts.store(.due, ordering: .relaxed)
        self.outbox.note(opened.mended)
    }

    /// Opens the file at the path again, and registers there the circuits that this process uses.
    ///
    /// The path may lead to another file by now. The caller leads.
    func reopen(isSuspect: Bool) throws(BreakerStoreError) {
        let maybeSame = self.answers.hasDatabaseInPlace
        self.rememberFile()
        // All connections are closed first: while any connection is open, SQLite gives a new connection the old
        // wal-index. The viewer comes last: it opens connections only while `answers` is open.
        self.answers.close()
        self.writer.shut()
        self.viewer.close()
        try self.file.requireDirectory(on: self.fileSystem)
        let opened = try self.openFile(isSuspect: isSuspect)
        let reopened = try self.restoreCircuits(in: opened, maybeSame: maybeSame)
        try self.use(opened, reopened)
        self.lost.withLock { $0 = nil }
        guard reopened == .same else { return }
        self.isToRegister.store(true, ordering: .relaxed)
        try self.writer.register(self.circuits.inForce, isSameDatabase: true, restoring: nil)
        self.isToRegister.store(false, ordering: .relaxed)
    }

    // MARK: - Gates

    func add(_ gate: Gate) { self.guarded.withLock { $0.gates.add(gate) } }

    func remove(_ gate: Gate) { self.guarded.withLock { $0.gates.remove(gate) } }

    /// Whether this process is a fork of the process that opened the file.
    var isForked: Bool { self.forkGate.isForked }

    /// Throws `forked` in a child of `fork`, which must not touch the parent's connections and locks.
    ///
    /// A call that was under way at the fork goes on in the child, too.
    func requireOwnProcess() throws(BreakerStoreError) {
        if self.isForked { throw .forked(self.file.path) }
    }

    // MARK: - Health

    var isDegraded: Bool { self.isForked || self.ask { $0.isDegraded } }
    var isClosed: Bool { self.ask { $0.isClosed } }
    var health: StoreHealth { self.ask { $0.health } }

    func add(_ listener: HealthListener, withPresent: Bool) {
        self.guarded.withLock { guarded in
            guarded.healthListeners.append(listener)
            if withPresent { listener.add(guarded.life.health) } else { listener.know(guarded.life.health) }
        }
    }

    func remove(_ listener: HealthListener) {
        self.guarded.withLock { $0.healthListeners.removeAll { $0 === listener } }
    }

    /// Notes that the file can't be used: memory guards until the store's thread has brought the file back.
    func lose(_ error: BreakerStoreError) {
        let loss = self.loss(error)
        self.happened { $0.lost(loss) }
    }

    func loss(_ error: BreakerStoreError) -> StoreLife.Loss {
        StoreLife.Loss(since: self.clock.host.wallDate, error: error)
    }

    /// Handles the error of a read.
    ///
    /// A broken file counts as lost. If a value was refused, such as a text that is too long, the next commit deletes
    /// its row.
    func readFailed(_ error: BreakerStoreError) {
        if error.isOfTheFile { self.lose(error) }
        if error.isOfRefusedValue { self.healSoon(after: error) }
    }

    /// Posts a change that throws the read's error once: the writer then deletes the rows that can't be read, and
    /// commits.
    private func healSoon(after error: BreakerStoreError) {
        guard !self.isToHeal.exchange(true, ordering: .relaxed) else { return }
        let isFirstTry = Atomic<Bool>(true)
        let work: Work<Void> = { _ throws(BreakerStoreError) in
            if isFirstTry.exchange(false, ordering: .relaxed) { throw error }
        }
        let endHealing: @Sendable () -> Void = { [weak self] in self?.isToHeal.store(false, ordering: .relaxed) }
        self.post(until: self.writer.deadline, then: endHealing, orElse: { _ in endHealing() }, work)
    }

    /// Makes the store's thread commit the tickets that wait, and close the file.
    func shutDownSoon() {
        let deadline = Deadline(after: self.configuration.busyTimeout)
        self.happened { $0.closeRequested(until: deadline) }
    }

    func waitForEnd(until deadline: Deadline) {
        // Another store on the file may keep the core open.
        guard self.isClosed, self.nextStart.load(ordering: .relaxed) == .max else { return }
        _ = self.thread.waitForEnd(until: deadline)
    }

    // MARK: - Keys

    /// A probe's token: a random number that no other probe in the file has.
    func newToken() -> Int64 { Int64(self.random.next() >> 1) }

    /// Whether a worker lives, as far as a reader can tell.
    func isAlive(_ worker: Int64) -> Bool { self.isForked || self.answers.isAlive(worker) }
}
