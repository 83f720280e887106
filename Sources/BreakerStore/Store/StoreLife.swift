import FoundationEssentials

/// Decides what an open store does with its file: who commits what waits, whether the file can be used, and when it is
/// tried again.
///
/// A value without a clock, a file or a lock. What happens comes in as a call of the function that is named after it,
/// with the time, and each function says what is to be done. `StoreCore` keeps the one value of a store behind a lock,
/// and does what was said once that lock has been let go.
struct StoreLife {
    typealias Instant = ContinuousClock.Instant

    /// Why the file can't be used, and since when.
    struct Loss {
        var since: Date
        var error: BreakerStoreError
    }

    enum Phase {
        /// The file is used.
        ///
        /// To `degraded` when a commit or a look at the file fails, or something waits for the file in vain; to
        /// `closing` when the last store leaves.
        case healthy
        /// Memory guards, and nothing is taken in.
        ///
        /// To `healthy` when the store's thread has the file back; to `closing` when the last store leaves.
        case degraded(Loss)
        /// The last store has left. What waits is still committed, unless the file is lost.
        ///
        /// To `closed` when the store's thread has committed it, or can't get the lead for too long.
        case closing(Loss?)
        /// Nothing is taken in any longer. Nothing comes after this.
        case closed
    }

    /// Who may use the connection that writes: one at a time, for as long as it leads.
    enum Lead {
        /// To `caller`, `looker` or `thread`, whoever comes first.
        case nobody
        /// A thread of the program commits for itself, and for all that wait with it. To `nobody`, or to `thread` if
        /// more has come or the thread has asked for the lead.
        case caller
        /// A call reads through the connection that writes. To `nobody` or `thread`, as from `caller`.
        case looker
        /// The store's thread. To `nobody`, once nothing waits.
        case thread
    }

    /// What is to be done once the lock has been let go, whatever else an event asks for.
    struct Actions {
        /// Whom to tell that the change was not made, and why.
        ///
        /// By then the store is no longer healthy, as they must find it.
        var failed: [any AnyTicket] = []
        var error: BreakerStoreError?
        /// Whether the store's thread has something to do.
        var wakesThread = false
        /// When to call `timerFired`.
        var timer: Deadline?
    }

    /// Whether a checkpoint of the log is due, and how far it has come.
    enum Checkpoint {
        case notDue
        /// The log has grown long: the store's thread syncs it while others go on. To `synced`.
        case due
        /// The store's thread has synced the log, and copies it as soon as it leads. To `notDue`.
        case synced
    }

    private(set) var phase = Phase.healthy
    /// Whether what is read may be kept, and held against the header of the wal-index.
    var answersCount = false

    // The queue: StoreLife+Queue.swift.
    var waiting: [any AnyTicket] = []
    var lead = Lead.nobody
    /// The store's thread has asked for the lead.
    var isLeadWanted = false
    /// Whether something has waited in vain since the file was last locked.
    var isOverdue = false
    /// What suspended tasks wait for.
    var awaited: [ObjectIdentifier: any AnyTicket] = [:]
    /// When timers fire that end what tasks wait for in vain.
    ///
    /// They are few: a later deadline needs none of its own.
    var timers: [Deadline] = []

    // The store's thread: StoreLife+Thread.swift.
    var checkpoint = Checkpoint.notDue
    var backOff: BackOff
    var nextLook: Instant?
    var closeBy: Deadline?
    /// The store time at which circuits that nobody uses were last looked for.
    var lastIdleSweep = Int64.min

    /// The circuits that this process uses: StoreLife+Circuits.swift.
    var circuits = Circuits()

    let path: String
    /// Whether the thread must look around even where no circuit is used.
    let forgetsIdle: Bool

    init(path: String, firstRetry: Duration, forgetsIdle: Bool) {
        self.path = path
        self.backOff = BackOff(first: firstRetry)
        self.forgetsIdle = forgetsIdle
    }

    // MARK: - What it is like

    var isHealthy: Bool { if case .healthy = self.phase { true } else { false } }
    var isDegraded: Bool { if case .degraded = self.phase { true } else { false } }

    /// Whether the last store has left.
    var isClosed: Bool {
        switch self.phase {
        case .closing, .closed: true
        case .healthy, .degraded: false
        }
    }

    /// Whether kept answers count.
    var opensGates: Bool { self.isHealthy && self.answersCount }

    /// Why nothing is taken in; nil if it is.
    var refusal: BreakerStoreError? {
        switch self.phase {
        case .healthy, .closing(nil): nil
        case .degraded(let loss), .closing(let loss?): loss.error
        case .closed: .closed(self.path)
        }
    }

    /// Why the file can't be used.
    var loss: BreakerStoreError? {
        switch self.phase {
        case .degraded(let loss), .closing(let loss?): loss.error
        case .healthy, .closing(nil), .closed: nil
        }
    }

    var health: StoreHealth {
        switch self.phase {
        case .healthy: .healthy
        case .degraded(let loss): .degraded(since: loss.since, error: loss.error)
        case .closing, .closed: .closed
        }
    }

    // MARK: - What happens to the file

    /// The file was opened: for the first time, or anew.
    mutating func opened(answersCount: Bool) { self.answersCount = answersCount }

    /// The file can't be used: all that waits fails.
    mutating func lost(_ loss: Loss) -> Actions {
        switch self.phase {
        case .healthy: self.phase = .degraded(loss)
        case .closing(nil): self.phase = .closing(loss)
        case .degraded, .closing, .closed: return Actions()
        }
        return Actions(failed: self.takeWaiting(), error: loss.error, wakesThread: true)
    }

    /// The store's thread has the file back; nil if the store is not degraded, and nothing follows from it.
    mutating func recovered() -> Loss? {
        guard case .degraded(let loss) = self.phase else { return nil }
        self.phase = .healthy
        return loss
    }

    /// The last store has left.
    ///
    /// - Parameter deadline: until when what waits may be committed.
    mutating func closeRequested(until deadline: Deadline) -> Actions {
        switch self.phase {
        case .healthy: self.phase = .closing(nil)
        case .degraded(let loss): self.phase = .closing(loss)
        case .closing, .closed: return Actions()
        }
        self.closeBy = deadline
        return Actions(wakesThread: true)
    }

    /// The store's thread has committed what waited, or has waited for that long enough.
    mutating func closed() -> Actions {
        self.phase = .closed
        return Actions(failed: self.takeWaiting(), error: .closed(self.path))
    }
}
