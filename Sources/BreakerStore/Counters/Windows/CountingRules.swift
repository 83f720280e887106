/// What is counted of a circuit's calls besides totals: windows and durations.
struct CountingRules: Equatable, Sendable {
    /// The window of the failure-rate rule, in microseconds; nil without such a rule.
    var failureWindow: Int64? {
        get { self.failing > 0 ? self.failing : nil }
        set { self.failing = newValue ?? 0 }
    }
    /// The window of the slow-call rule, in microseconds; nil without such a rule.
    var slowWindow: Int64? {
        get { self.slow > 0 ? self.slow : nil }
        set { self.slow = newValue ?? 0 }
    }
    var measuresDurations = false
    /// Whether a rate trips the circuit only if the bad calls come from several workers.
    var needsReporters = false

    // 0 if there is no window: there may be very many circuits, and optional numbers would take twice the memory.
    private var failing: Int64 = 0
    private var slow: Int64 = 0

    init() {}

    func hasWindows(of other: CountingRules) -> Bool { self.failing == other.failing && self.slow == other.slow }

    /// The window of a failure-rate or slow-call rule.
    struct Window: Sendable {
        /// Which calls are bad under the rule.
        var subject: WindowSubject
        var ticks: WindowTicks
    }

    var windows: [Window] {
        var windows: [Window] = []
        if self.failing > 0 { windows.append(Window(subject: .failed, ticks: WindowTicks(window: self.failing))) }
        if self.slow > 0 { windows.append(Window(subject: .slow, ticks: WindowTicks(window: self.slow))) }
        return windows
    }

    var shortestWindow: Int64? {
        guard let failing = self.failureWindow, let slow = self.slowWindow else {
            return self.failureWindow ?? self.slowWindow
        }
        return min(failing, slow)
    }
}

extension CountingRules {
    init(_ rules: Rules) {
        self.init()
        self.failureWindow = rules.failureWindow
        self.slowWindow = rules.slow?.window.saturatingMicroseconds
        self.needsReporters = rules.minimumReporters > 1 && self.shortestWindow != nil
    }
}
