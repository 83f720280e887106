/// How many calls a circuit has had since it was created in the file, in all processes, by outcome.
///
/// Each attempt of a retry is a call. The calls include probes, calls that ended after the circuit had changed its
/// state, calls that `recordSuccess` and `recordFailure` reported, and calls through a circuit that was held closed,
/// and calls that the in-memory fallback admitted, but for those after `close()`. Each slow call is also one of
/// `succeeded` or `failed`. A refused call is in no other count, except where an observing circuit let a call run that
/// an enforcing circuit would have refused.
///
/// Failures and slow calls are counted at once. Each process counts all other calls in its own memory first, and
/// publishes these counts about each second: a process that is killed loses the counts that it has not published yet.
/// A process that reads totals publishes its own counts first.
public struct CallTotals: Sendable, Hashable {
    /// Calls that succeeded.
    public var succeeded: UInt64
    /// Calls that failed, time-outs included.
    public var failed: UInt64
    /// Calls that took longer than the threshold of the slow rule, where there is one.
    public var slow: UInt64
    /// Calls whose outcome said nothing about the service, as `classify` decides.
    public var ignored: UInt64
    /// Calls that were refused and did not run, and calls that an observing circuit let run although an enforcing
    /// circuit would have refused them.
    public var refused: UInt64

    /// How long the calls took; nil where no process has measured.
    ///
    /// Only measured calls are included: calls through handles with ``CallPolicy/measuresDurations``, and all calls
    /// through a circuit with a slow rule. Ignored calls are not included, nor are calls that `recordSuccess` and
    /// `recordFailure` reported.
    public var durations: Durations?

    /// The calls, counted by how long they took.
    public struct Durations: Sendable, Hashable {
        /// The bounds, the shortest first.
        public var bounds: [Duration]
        /// How many calls took at most each bound, and longer than the bound before; the last count is of calls beyond
        /// all bounds.
        public var counts: [UInt64]
        /// How long all these calls took together.
        public var sum: Duration

        /// Creates durations for tests.
        public init(bounds: [Duration], counts: [UInt64], sum: Duration) {
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
        }
    }

    /// Creates totals for tests.
    public init(
        succeeded: UInt64 = 0, failed: UInt64 = 0, slow: UInt64 = 0, ignored: UInt64 = 0, refused: UInt64 = 0,
        durations: Durations? = nil
    ) {
        self.succeeded = succeeded
        self.failed = failed
        self.slow = slow
        self.ignored = ignored
        self.refused = refused
        self.durations = durations
    }
}
