#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A circuit as it was at one moment.
public struct CircuitSnapshot: Sendable, Hashable, Identifiable {
    /// A call under way that decides whether a half-open circuit closes.
    public struct Probe: Sendable, Hashable {
        /// The worker that makes it.
        public var worker: WorkerSnapshot.ID
        /// That worker's name, also once the worker is gone; nil where nobody has said it.
        public var name: String?
        /// That worker's process.
        public var pid: Int32?
        /// When it was let through.
        public var since: Date
        /// When its result becomes stale and its slot free.
        public var leaseEnds: Date

        /// Creates a probe, as a test may need one.
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

    /// An operator's word over a circuit.
    public struct Hold: Sendable, Hashable {
        /// Whether it is held open or closed.
        public var state: HoldState
        /// When it was put on.
        public var since: Date
        /// When it ends by itself; nil means not before it is released.
        public var until: Date?
        /// Who put it on, as they said.
        public var by: String?
        /// Why, as they said.
        public var reason: String?

        /// Creates a hold, as a test may need one.
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

    /// The circuit's name.
    public var id: String { self.name }
    /// The circuit's name, its identity.
    public var name: String
    /// The configuration as stored.
    public var config: CircuitBreaker.Config
    /// What it does with a call.
    public var state: CircuitState
    /// When it came into this state.
    public var since: Date
    /// The state under a hold; nil where there is none.
    public var beneath: CircuitState?
    /// The number of this stay in the state; each transition raises it.
    public var epoch: Int64
    /// When the failures that count were seen, oldest first, as far as their times are kept.
    public var failures: [Date]
    /// How many failures count; 0 under a rule about a share of the calls, for which see ``recent``.
    public var failureCount: Int
    /// How often it tripped since it was last closed.
    public var tripsInARow: Int
    /// The live probes.
    public var probes: [Probe]
    /// An operator's hold, if there is one.
    public var hold: Hold?
    /// What was stored of the newest failure's error.
    ///
    /// Under a rule about a share of the calls a failure that trips nothing is not stored by itself: then the text is
    /// that of the first failure since the file was last told, which may be some seconds older.
    public var lastError: String?
    /// How many calls the circuit has refused in all processes, or would have refused if it did not only observe.
    ///
    /// The same number as ``CallTotals/refused`` of ``totals``. Each process counts refusals in its own memory, and
    /// moves them about each second to where all processes see them.
    public var refusals: Int
    /// How many live workers have registered it.
    public var workers: Int

    /// When the outage began: the first trip since the circuit was last closed.
    ///
    /// Nil where there is none, and where the history no longer reaches back so far.
    public var trippedSince: Date?
    /// The calls of all processes since the circuit came into the file, as far as the processes have told of them.
    public var totals: CallTotals
    /// The calls within the windows of its rules; nil where no rule counts shares of the calls.
    public var recent: CallRates?

    /// Creates a snapshot, as a test may need one.
    public init(
        name: String, config: CircuitBreaker.Config, state: CircuitState = .closed, since: Date, epoch: Int64 = 1,
        beneath: CircuitState? = nil, failures: [Date] = [], failureCount: Int = 0, tripsInARow: Int = 0,
        probes: [Probe] = [], hold: Hold? = nil, lastError: String? = nil, refusals: Int = 0, workers: Int = 0,
        trippedSince: Date? = nil, totals: CallTotals = CallTotals(), recent: CallRates? = nil
    ) {
        self.name = name
        self.config = config
        self.state = state
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
    }
}
