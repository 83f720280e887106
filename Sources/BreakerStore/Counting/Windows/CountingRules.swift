/// Which windows and durations are counted of a circuit's calls, besides totals.
struct CountingRules: Equatable, Sendable {
    /// The window of a rule about the share of failures, in microseconds; nil if there is none.
    var failureWindow: Int64? {
        get { self.failing > 0 ? self.failing : nil }
        set { self.failing = newValue ?? 0 }
    }
    /// The window of a rule about the share of slow calls, in microseconds; nil if there is none.
    var slowWindow: Int64? {
        get { self.slow > 0 ? self.slow : nil }
        set { self.slow = newValue ?? 0 }
    }
    var measuresDurations = false
    /// Whether a share opens the circuit only if the bad calls come from several workers.
    var needsReporters = false

    // 0 if there is no window: there may be very many circuits, and optional numbers would take twice the memory.
    private var failing: Int64 = 0
    private var slow: Int64 = 0

    init() {}

    func hasWindows(of other: CountingRules) -> Bool { self.failing == other.failing && self.slow == other.slow }

    /// The window of a rule about a share.
    struct Window: Sendable {
        /// Which calls the rule calls bad.
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
