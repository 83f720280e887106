#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state machine of an open store: who commits, whether the file can be used, and when to try a lost file again.
///
/// This value has no clock, no file and no lock. Each event, such as the end of a commit, is a call of the function
/// that is named after it. A leader or the store's thread also asks what to do next, by functions such as `startRound`
/// and `nextThreadWork`, which may change the state, too. All get the time where it matters, and return what to do.
/// `StoreCore` keeps the value behind a lock, releases the lock, and then does what the function returned.
struct StoreLife {
    typealias Instant = ContinuousClock.Instant

    /// Why the file can't be used, and since when.
    struct Loss {
        var since: Date
        /// Why the file was lost, or could not be opened at first.
        var error: BreakerStoreError
        /// Why the last try to open the file failed; nil before the first try.
        var obstacle: BreakerStoreError?

        /// Why the file can't be used now.
        var reason: BreakerStoreError { self.obstacle ?? self.error }
    }

    enum Phase {
        /// The file is used.
        ///
        /// Becomes `degraded` when a commit or a read of the file fails, or a ticket waits for the file until its
        /// deadline; becomes `closing` when the last store leaves.
        case healthy
        /// The in-memory fallback decides about calls, and changes are refused.
        ///
        /// Becomes `healthy` when the store's thread has brought the file back, and `closing` when the last store
        /// leaves.
        case degraded(Loss)
        /// The last store has left.
        ///
        /// Tickets are still committed, unless the file is lost. Becomes `closed` when the store's thread has committed
        /// the tickets, or has not got the lead by `closeBy`.
        case closing(Loss?)
        /// Changes are refused; no phase follows.
        case closed
    }

    /// Which thread uses the connection for writing: at most one thread leads.
    enum Lead {
        /// Becomes `caller`, `reader` or `thread`: the first thread that asks leads.
        case nobody
        /// A thread of the program commits its own ticket, and all that wait with it.
        ///
        /// Becomes `thread` if more tickets have come or the store's thread has asked for the lead, else `nobody`.
        case caller
        /// A call reads through the connection that writes.
        ///
        /// Becomes `thread` or `nobody`, as `caller` does.
        case reader
        /// The store's thread leads.
        ///
        /// Becomes `nobody` once no ticket waits.
        case thread
    }

    /// The core's work after an event, once the core has released the lock.
    struct Actions {
        /// The tickets that fail with `error`.
        ///
        /// They fail after the phase has changed, so that their callers find a store that is not healthy.
        var failed: [any AnyTicket] = []
        var error: BreakerStoreError?
        /// Whether the store's thread has something to do.
        var wakesThread = false
    }

    /// Whether a checkpoint of the log is due, and how far it has come.
    enum Checkpoint {
        case notDue
        /// The log has grown long, and the store's thread is to sync it.
        ///
        /// Becomes `synced`, or `notDue` directly if the thread leads already.
        case due
        /// The store's thread syncs the log, and copies it as soon as it leads.
        ///
        /// Becomes `notDue` when the copy begins.
        case synced
    }

    private(set) var phase = Phase.healthy
    /// Whether decisions may be cached, because the header of the wal-index can be compared.
    var mayCacheDecisions = false

    // The queue: StoreLife+Queue.swift.
    var waiting: [any AnyTicket] = []
    var lead = Lead.nobody
    /// The store's thread has asked for the lead.
    var isLeadWanted = false
    /// Whether a caller has given up its ticket since the leader's round began: the leader then gives up a busy file.
    var hasTimedOutWaiter = false

    // The store's thread: StoreLife+Thread.swift.
    var checkpoint = Checkpoint.notDue
    var backOff: BackOff
    /// When the next maintenance pass is due; nil while none is scheduled.
    var nextMaintenance: Instant?
    var closeBy: Deadline?
    /// The store time, in microseconds, at which the last sweep for unused circuits began.
    var lastIdleSweep = Int64.min

    /// Whether this process uses any circuits.
    var usesCircuits = false

    let path: String
    /// Whether maintenance passes run even while no circuit is used.
    var maintainsAlways: Bool

    init(path: String, firstRetry: Duration, maintainsAlways: Bool) {
        self.path = path
        self.backOff = BackOff(first: firstRetry)
        self.maintainsAlways = maintainsAlways
    }

    // MARK: - State

    var isHealthy: Bool { if case .healthy = self.phase { true } else { false } }
    var isDegraded: Bool { if case .degraded = self.phase { true } else { false } }

    /// Whether the last store has left; the store's thread may still be committing the tickets that wait.
    var isClosed: Bool {
        switch self.phase {
        case .closing, .closed: true
        case .healthy, .degraded: false
        }
    }

    /// Whether calls may use cached decisions.
    var opensGates: Bool { self.isHealthy && self.mayCacheDecisions }

    /// Why changes are refused; nil if they are accepted.
    var refusal: BreakerStoreError? {
        switch self.phase {
        case .healthy, .closing(nil): nil
        case .degraded(let loss), .closing(let loss?): loss.reason
        case .closed: .closed(self.path)
        }
    }

    /// Why the file can't be used.
    var loss: Loss? {
        switch self.phase {
        case .degraded(let loss), .closing(let loss?): loss
        case .healthy, .closing(nil), .closed: nil
        }
    }

    var health: StoreHealth {
        switch self.phase {
        case .healthy: .healthy
        case .degraded(let loss): .degraded(since: loss.since, error: loss.reason)
        case .closing, .closed: .closed
        }
    }

    // MARK: - Events of the file

    /// The file was opened: for the first time, or again.
    mutating func opened(mayCacheDecisions: Bool) { self.mayCacheDecisions = mayCacheDecisions }

    /// The file can't be used: all tickets that wait fail.
    mutating func lost(_ loss: Loss) -> Actions {
        switch self.phase {
        case .healthy: self.phase = .degraded(loss)
        case .closing(nil): self.phase = .closing(loss)
        case .degraded, .closing, .closed: return Actions()
        }
        return Actions(failed: self.drainWaiting(), error: loss.error, wakesThread: true)
    }

    /// The store's thread could not open the file: `health` reports this reason from now on.
    ///
    /// The error of the loss stays: it determines how the thread opens the file.
    mutating func openingFailed(_ error: BreakerStoreError) {
        guard case .degraded(var loss) = self.phase else { return }
        loss.obstacle = error
        self.phase = .degraded(loss)
    }

    /// The store's thread has brought the file back; returns the loss that is over, or nil if the store was not
    /// degraded.
    mutating func recovered() -> Loss? {
        guard case .degraded(let loss) = self.phase else { return nil }
        self.phase = .healthy
        return loss
    }

    /// The last store has left.
    ///
    /// - Parameter deadline: until when the tickets that wait may be committed.
    mutating func closeRequested(until deadline: Deadline) -> Actions {
        switch self.phase {
        case .healthy: self.phase = .closing(nil)
        case .degraded(let loss): self.phase = .closing(loss)
        case .closing, .closed: return Actions()
        }
        self.closeBy = deadline
        return Actions(wakesThread: true)
    }

    /// The store's thread has committed the tickets that waited, or has not got the lead by the deadline.
    mutating func closed() -> Actions {
        self.phase = .closed
        return Actions(failed: self.drainWaiting(), error: .closed(self.path))
    }
}
