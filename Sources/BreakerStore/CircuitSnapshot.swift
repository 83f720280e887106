#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A circuit as it was at one moment.
public struct CircuitSnapshot: Sendable, Hashable, Identifiable {
    /// A probe that is under way.
    public struct Probe: Sendable, Hashable {
        /// The worker that makes the probe.
        public var worker: WorkerSnapshot.ID
        /// That worker's name, even after the worker is gone; nil if unknown.
        public var name: String?
        /// That worker's process.
        public var pid: Int32?
        /// When the probe was let through.
        public var since: Date
        /// When the lease ends: then the probe's result becomes stale and its slot free.
        public var leaseEnds: Date

        /// Creates a probe for tests.
        public init(
            worker: WorkerSnapshot.ID, name: String? = nil, pid: Int32? = nil, since: Date, leaseEnds: Date
        ) {
            self.worker = worker
            self.name = name
            self.pid = pid
            self.since = since
            self.leaseEnds = leaseEnds
        }
    }

    /// An operator's hold of a circuit.
    public struct Hold: Sendable, Hashable {
        /// Whether the circuit is held open or closed.
        public var state: HoldState
        /// When the operator put the hold on.
        public var since: Date
        /// When the hold ends without a release; nil if it never does.
        public var until: Date?
        /// The operator's name, as given.
        public var by: String?
        /// The operator's reason, as given.
        public var reason: String?

        /// Creates a hold for tests.
        public init(
            state: HoldState, since: Date, until: Date? = nil, by: String? = nil, reason: String? = nil
        ) {
            self.state = state
            self.since = since
            self.until = until
            self.by = by
            self.reason = reason
        }
    }

    /// The calls that an outage has hurt.
    public struct Hurt: Sendable, Hashable {
        /// How many calls have failed since the outage began, with those whose failures tripped the circuit.
        public var failed: UInt64
        /// How many calls were refused since then.
        public var refused: UInt64

        /// Creates counts for tests.
        public init(failed: UInt64 = 0, refused: UInt64 = 0) {
            self.failed = failed
            self.refused = refused
        }
    }

    /// The circuit's name.
    public var id: String { self.name }
    /// The circuit's name, its identity.
    public var name: String
    /// The configuration as stored.
    public var config: CircuitBreaker.Config
    /// What the circuit does with a call.
    public var state: CircuitState
    /// When the circuit came into this state.
    public var since: Date
    /// Whether the circuit is open and its recovery time is over: it refuses nobody, and the next call is a probe.
    ///
    /// A held circuit is not due, whatever is beneath the hold.
    public var isDue: Bool {
        if case .open = self.state { self.recoveryIsOver } else { false }
    }
    /// Whether the end of the open state was past at the moment of the snapshot.
    var recoveryIsOver: Bool
    /// The state beneath a hold; nil without a hold.
    public var beneath: CircuitState?
    /// The epoch: a number that rises with each change of state, hold or reset.
    public var epoch: Int64
    /// The times of the failures that count, oldest first, as far as the times are kept.
    public var failures: [Date]
    /// How many failures count; 0 under a failure-rate rule, for which see ``recent``.
    public var failureCount: Int
    /// How often the circuit has tripped or reopened since it was last closed.
    public var tripsInARow: Int
    /// The probes that run now.
    public var probes: [Probe]
    /// The operator's hold; nil if the circuit is not held.
    public var hold: Hold?
    /// The stored text of the newest failure's error.
    ///
    /// Under a failure-rate rule, a failure that trips nothing is not stored at once. The text is then
    /// that of the first failure since the file last got a text, which may be some seconds older.
    public var lastError: String?
    /// How many calls the circuit has refused in all processes, or would have refused if it enforced.
    ///
    /// The same number as ``CallTotals/refused`` of ``totals``. Each process counts refusals in its own memory, and
    /// publishes them about each second.
    public var refusals: Int
    /// How many live workers have registered the circuit.
    public var workers: Int

    /// When the outage began: the first trip since the circuit was last closed.
    ///
    /// Nil without an outage, and where the history no longer reaches back so far.
    public var trippedSince: Date?
    /// What the outage has cost so far; nil without an outage, and where counts were lost.
    ///
    /// Failures are exact. Each process publishes refusals about each second; one that is killed loses its last ones.
    public var hurt: Hurt?
    /// The calls of all processes since the circuit was created in the file, as far as they have been published.
    public var totals: CallTotals
    /// The calls within the windows of the circuit's rules; nil without a failure-rate rule and a slow-call rule.
    public var recent: CallRates?

    /// Creates a snapshot for tests.
    ///
    /// An open one is due if the end of its state is past by the system's clock.
    public init(
        name: String, config: CircuitBreaker.Config, state: CircuitState = .closed, since: Date, epoch: Int64 = 1,
        beneath: CircuitState? = nil, failures: [Date] = [], failureCount: Int = 0, tripsInARow: Int = 0,
        probes: [Probe] = [], hold: Hold? = nil, lastError: String? = nil, refusals: Int = 0, workers: Int = 0,
        trippedSince: Date? = nil, totals: CallTotals = CallTotals(), recent: CallRates? = nil, hurt: Hurt? = nil
    ) {
        self.name = name
        self.config = config
        self.state = state
        self.recoveryIsOver = if case .open(let until) = state { until <= Date() } else { false }
        self.since = since
        self.epoch = epoch
        self.beneath = beneath
        self.failures = failures
        self.failureCount = failureCount
        self.tripsInARow = tripsInARow
        self.probes = probes
        self.hold = hold
        self.lastError = lastError
        self.refusals = refusals
        self.workers = workers
        self.trippedSince = trippedSince
        self.totals = totals
        self.recent = recent
        self.hurt = hurt
    }
}
