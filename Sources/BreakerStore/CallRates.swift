/// The calls of all processes within the windows of a circuit's failure-rate and slow-call rules.
///
/// The rules judge by these numbers. A window begins again with each change of state. It leaves out probes, calls
/// through a circuit that is held closed, and failing or slow calls that were let through before the change. All
/// numbers are 0 where no board of this boot can be read.
public struct CallRates: Sendable, Hashable {
    /// The calls that succeeded or failed within `window`.
    public var calls: UInt64
    /// The failed calls among `calls`; 0 unless the trip rule is a failure rate.
    public var failed: UInt64
    /// The trip rule's window, or the slow rule's unless the trip rule is a failure rate.
    public var window: Duration
    /// The slow calls within the slow rule's window.
    public var slow: UInt64
    /// All calls that succeeded or failed within the slow rule's window.
    public var slowCalls: UInt64
    /// The slow rule's window; nil without a slow rule.
    public var slowWindow: Duration?

    /// Creates rates for tests.
    public init(
        calls: UInt64, failed: UInt64, window: Duration, slow: UInt64 = 0, slowCalls: UInt64 = 0,
        slowWindow: Duration? = nil
    ) {
        self.calls = calls
        self.failed = failed
        self.window = window
        self.slow = slow
        self.slowCalls = slowCalls
        self.slowWindow = slowWindow
    }
}
