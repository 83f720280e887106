import FoundationEssentials
import Synchronization

/// The open file of one or more stores of this process: the funnel, its queue, the reader, and a thread for what must not
/// run on a caller's.
final class StoreCore: Sendable {
    /// What writes, used by whoever leads the queue.
    struct Session {
        var opened: Opened
        var checkpointer: Database?
    }

    struct Reading {
        var database: Database?
        /// The headers that answers were ever held against, the last one now: readable for those who are just looking.
        var mappings: [HeaderMapping] = []
        var generation: UInt64 = 0
        var answersCount = false
        /// Where the history stood when this file was opened first.
        var origin = EventHub.Place(file: 0, id: 0)
        /// The newest event when the file was opened last, and which file that was.
        var newest: (id: Int64, identity: FileIdentity)?

        /// Closes the connection; no answer counts any longer, and the gates are shut.
        mutating func close() {
            self.mappings.last?.retire()
            self.database = nil
        }
    }

    /// A config that has not been stored, and when it was registered.
    struct Unregistered {
        var config: CircuitBreaker.Config
        var uptime: Int64
    }

    enum Phase {
        case healthy
        case degraded(since: Date, error: BreakerStoreError)
        case closed

        var isHealthy: Bool { if case .healthy = self { true } else { false } }
        var isDegraded: Bool { if case .degraded = self { true } else { false } }
        var isClosed: Bool { if case .closed = self { true } else { false } }
    }

    let file: StoreFile
    let configuration: CircuitStore.Configuration
    let clock: StoreClock
    let queue = CommitQueue()
    let memory = MemoryGuard()
    let reading = Mutex(Reading())
    let phase: Mutex<Phase>
    /// The circuits that this process has registered, to be registered again in a new file.
    let registered = Mutex<[CircuitName: CircuitBreaker.Config]>([:])
    /// What of it the file has not been told yet.
    let unregistered = Mutex<[CircuitName: Unregistered]>([:])

    let session: Mutex<Session?>
    /// A sync of the log has failed: healthy again only once the database has been synced.
    let needsFullCheckpoint = Atomic<Bool>(false)
    /// What happened to the store itself and does not stand in its history yet.
    let untold = Mutex<[StoreNote]>([])
    /// For long reads, so that no call waits for one; opened when it is first needed.
    let viewer = Mutex<Database?>(nil)
    /// The byte that says that this process lives: held over a reopening, or its probes would be taken for a dead one's.
    let membership = Mutex<Opening.Membership?>(nil)
    /// What was open last, until the next is open: another database may take its place, and the log be left.
    private let left = Mutex<FileIdentity?>(nil)
    private let gates = Mutex<[Gate]>([])
    let refusals = Refusals()
    let hub = EventHub()
    private let ownGate = Gate()
    let thread = StoreThread()
    /// The log has grown long enough; set until the store's thread has seen to it.
    let checkpointIsDue = Atomic<Bool>(false)
    let chance = Chance()
    /// The store time at which circuits that nobody uses were last looked for.
    let lastSweep = Atomic<Int64>(.min)
    private let sequence = Atomic<Int64>(0)
    private let workerID = Atomic<Int64>(0)
    /// A reopened file knows this process as another worker.
    private let ownWorkers = Mutex<[Int64]>([])

    /// Opens the file and starts the thread.
    init(file: StoreFile, configuration: CircuitStore.Configuration) throws(BreakerStoreError) {
        self.file = file
        self.configuration = configuration
        self.clock = StoreClock(configuration.clock)
        self.phase = Mutex(.healthy)
        self.session = Mutex(nil)
        do throws(BreakerStoreError) {
            try self.session.withLock { (session) throws(BreakerStoreError) in _ = try self.open(&session) }
        } catch {
            guard configuration.whenUnavailable == .degrade, error.code != .invalidConfiguration else { throw error }
            self.degrade(error)
        }
        guard self.thread.start({ self.runThread() }) else {
            throw BreakerStoreError(code: .unavailable, message: "no thread can be started", path: file.path)
        }
        self.tellUntold()
    }

    // MARK: - Opening

    private func open(
        _ session: inout Session?,
        as previous: Opening.Membership? = nil,
        isSuspect: Bool = false,
        maybeSameFile: Bool = false
    ) throws(BreakerStoreError) -> Bool {
        var isSameDatabase = false
        let opened = try Opening(
            file: self.file,
            configuration: self.configuration,
            clock: self.clock,
            previous: previous,
            left: self.left.withLock { $0 },
            isSuspect: isSuspect
        ).run()
        self.left.withLock { $0 = nil }
        let newest = try opened.reader.newestEvent()
        session = Session(opened: opened)
        self.membership.withLock { $0 = Opening.Membership(lock: opened.lock, worker: opened.worker.id) }
        self.workerID.store(opened.worker.id, ordering: .relaxed)
        self.ownWorkers.withLock { if !$0.contains(opened.worker.id) { $0.append(opened.worker.id) } }
        self.reading.withLock {
            $0.database = opened.reader
            $0.generation += 1
            $0.answersCount = false
            let isSameFile =
                maybeSameFile && opened.identity.hasDatabase(of: $0.newest?.identity) && newest >= $0.newest?.id ?? 0
            // Another file counts its events anew.
            isSameDatabase = isSameFile
            if !isSameFile { $0.origin = EventHub.Place(file: $0.origin.file + 1, id: newest) }
            $0.newest = (newest, opened.identity)
            guard opened.answersCount, let index = opened.reader.connection.walIndex(),
                let mapping = HeaderMapping(of: index)
            else { return }
            $0.mappings.append(mapping)
            $0.answersCount = true
        }
        if let name = opened.quarantined { self.noteQuarantine(name) }
        self.note(opened.mended)
        return isSameDatabase
    }

    /// Opens the file anew, which may be another one by now, and registers there what this process uses.
    ///
    /// - Parameter isSuspect: whether SQLite has called the file broken.
    func reopen(_ session: inout Session?, isSuspect: Bool) throws(BreakerStoreError) {
        self.shutGates()
        let previous = session.map { Opening.Membership(lock: $0.opened.lock, worker: $0.opened.worker.id) }
        // Asked while it is still open: nobody else gets its number.
        let isSameFile = self.reading.withLock { $0.newest?.identity.hasDatabase(of: self.file) ?? false }
        if let opened = session?.opened { self.left.withLock { $0 = opened.identity } }
        // All at once: as long as one connection is left, SQLite gives the next one the same old wal-index.
        session = nil
        // In this order: without it nobody opens the other.
        self.reading.withLock { $0.close() }
        self.viewer.withLock { $0 = nil }
        let isSameDatabase = try self.open(
            &session,
            as: previous ?? self.membership.withLock { $0 },
            isSuspect: isSuspect,
            maybeSameFile: isSameFile
        )
        guard let opened = session?.opened else { return }
        // Registered at once, so that an operator sees them there.
        do throws(BreakerStoreError) {
            try self.registerAll(opened, isSameDatabase)
        } catch {
            guard error.isOfRows else { throw error }
            try self.heal(opened)
            try self.registerAll(opened, isSameDatabase)
        }
        self.openGates()
    }

    /// Registers what this process uses in a new file.
    ///
    /// In the same database others may have registered newer configs meanwhile, or forgotten circuits: there this process
    /// notes that it uses those that are left.
    private func registerAll(_ opened: Opened, _ isSameDatabase: Bool) throws(BreakerStoreError) {
        let configs = self.registered.withLock { Array($0.values) }
        try opened.writer.transaction(until: Deadline(after: self.configuration.busyTimeout)) {
            () throws(BreakerStoreError) in
            let transaction = try self.transaction(opened)
            for config in configs {
                if isSameDatabase { try transaction.noteUse(of: config.name) } else { try transaction.register(config) }
            }
            try transaction.flush()
            try self.requireIndex(opened)
        }
    }

    // MARK: - Gates

    func add(_ gate: Gate) {
        self.gates.withLock { $0.append(gate) }
        self.openGates()
    }

    func remove(_ gate: Gate) {
        self.gates.withLock { $0.removeAll { $0 === gate } }
        gate.shut()
    }

    func openGates() {
        self.reading.withLock { reading in
            guard reading.answersCount, let mapping = reading.mappings.last else { return }
            self.gates.withLock { gates in
                // Asked under the lock: who degrades the store meanwhile shuts the gates after this.
                guard self.phase.withLock({ $0.isHealthy }) else { return }
                for gate in gates { gate.open(to: mapping, generation: reading.generation) }
            }
        }
    }

    /// Ends all cached answers, unless the file has come back in the meantime.
    func shutGates() {
        self.gates.withLock { gates in
            guard !self.phase.withLock({ $0.isHealthy }) else { return }
            for gate in gates { gate.shut() }
        }
    }

    /// Whether this process is a fork of the one that opened the file.
    var isForked: Bool { self.ownGate.isForked }

    // MARK: - Health

    var isDegraded: Bool { self.isForked || self.phase.withLock { $0.isDegraded } }
    var isClosed: Bool { self.phase.withLock { $0.isClosed } }

    var health: StoreHealth {
        self.phase.withLock {
            switch $0 {
            case .healthy: .healthy
            case .degraded(let since, let error): .degraded(since: since, error: error)
            case .closed: .closed
            }
        }
    }

    /// Makes the thread commit what waits and close the file.
    func shutDownSoon() {
        self.phase.withLock { $0 = .closed }
        self.thread.wake()
    }

    func waitForEnd(until deadline: Deadline) {
        // Another store on the file may keep the core open.
        if self.isClosed { _ = self.thread.waitForEnd(until: deadline) }
    }

    /// Answers from memory until the thread has the file back.
    func degrade(_ error: BreakerStoreError) {
        // In one step with the queue: the file may come back in the meantime.
        let waiting: [any AnyTicket]? = self.phase.withLock {
            switch $0 {
            case .healthy:
                $0 = .degraded(since: self.clock.host.wallTime, error: error)
                return self.queue.beginToRefuse(with: error)
            case .degraded, .closed:
                return nil
            }
        }
        guard let waiting else { return }
        self.shutGates()
        for ticket in waiting { ticket.fail(error) }
        self.thread.wake()
    }

    /// A call could not look at the file, by no fault of a row.
    func readFailed(_ error: BreakerStoreError) {
        if error.isOfTheFile { self.degrade(error) }
    }

    func gaveUp(_ error: BreakerStoreError) { self.degrade(error) }

    func recovered() {
        let lost: (since: Date, error: BreakerStoreError)? = self.phase.withLock {
            guard case .degraded(let since, let error) = $0 else { return nil }
            $0 = .healthy
            self.queue.accept()
            return (since, error)
        }
        guard let lost else { return }
        self.noteLoss(since: lost.since, lost.error)
        self.tellUntold()
        // First: what the file does not take after all counts in memory again, at once.
        self.memory.forgetCircuits()
        self.tellUnregistered()
        self.tellKept()
        self.openGates()
    }

    // MARK: - Keys

    /// A key that no other report in the file has.
    func nextKey() -> (worker: Int64, sequence: Int64) {
        (self.workerID.load(ordering: .relaxed), self.sequence.add(1, ordering: .relaxed).newValue)
    }

    /// A probe's token: no other that the file knows.
    func newToken() -> Int64 { Int64(self.chance.next() >> 1) }

    /// Whether a worker is or was this process.
    func isOwn(_ worker: Int64) -> Bool { self.ownWorkers.withLock { $0.contains(worker) } }

    /// Whether a worker lives, for those who only look.
    func isAlive(_ worker: Int64) -> Bool {
        if self.isForked || worker == self.workerID.load(ordering: .relaxed) { return true }
        return self.membership.withLock { $0?.lock.isHeldByAnother(worker: worker) } ?? true
    }

    func transaction(_ opened: Opened) throws(BreakerStoreError) -> Transaction {
        try Transaction(
            opened.writer,
            worker: opened.worker,
            clock: self.clock,
            eventsKept: self.configuration.eventsKept,
            chance: self.chance,
            // Others lock another file by now: who seems dead may live.
            isLocked: { !opened.lock.isInPlace || opened.lock.isHeldByAnother(worker: $0) }
        )
    }
}
