/// How many calls a circuit has had since it came into the file, in all processes, by how they ended.
///
/// Each attempt of a retry is a call. These are among the calls, too: probes, calls that ended after the circuit had
/// changed its state, calls that `recordSuccess` and `recordFailure` reported, and calls through a circuit that was
/// held closed or guarded in memory. Each slow call is also one of `succeeded` or `failed`. A refused call is none of
/// the others, except where an observing circuit let a call run that it would have refused.
///
/// Failures and slow calls are counted at once. Each process counts all other calls in its own memory first, and moves
/// these counts about each second to where all processes see them: a process that is killed loses the counts that it
/// has not moved yet.
public struct CallTotals: Sendable, Hashable {
    /// Calls that went well.
    public var succeeded: UInt64
    /// Calls that failed, time-outs among them.
    public var failed: UInt64
    /// Calls that took longer than the threshold of the slow rule, where there is one.
    public var slow: UInt64
    /// Calls whose end said nothing about the service, as `classify` decides.
    public var ignored: UInt64
    /// Calls that were refused and did not run, and calls that an observing circuit let run but would have refused.
    public var refused: UInt64

    /// How long the calls took; nil where nobody has measured.
    ///
    /// Only measured calls are among them: those through handles with ``CallPolicy/measuresDurations``, and all through
    /// a circuit with a slow rule. Ignored calls are not, nor those that `recordSuccess` and `recordFailure` reported.
    public var durations: Durations?

    /// The calls, counted by how long they took.
    public struct Durations: Sendable, Hashable {
        /// The bounds, the shortest first.
        public var bounds: [Duration]
        /// How many calls took at most each bound, and longer than the one before; the last count is of those beyond
        /// all bounds.
        public var counts: [UInt64]
        /// How long all of them took together.
        public var sum: Duration

        /// Creates durations, as a test may need them.
        public init(bounds: [Duration], counts: [UInt64], sum: Duration) {
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
        }
    }

    /// Creates totals, as a test may need them.
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
