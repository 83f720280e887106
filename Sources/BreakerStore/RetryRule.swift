/// How often and after how long a failed call is made again.
///
/// ```swift
/// // Up to three retries, after 100, 200 and 400 ms; each wait is up to a quarter longer by chance.
/// let retry = RetryRule.exponential(maxRetries: 3, delay: .milliseconds(100), jitter: 0.25)
/// let users = try store.breaker(.init(name: "users"), calls: CallPolicy(retry: retry))
/// let user = try await users.run { try await api.fetchUser() }
/// ```
///
/// Each attempt is one call to the circuit.
public struct RetryRule: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case constant, exponential
    }

    let kind: Kind
    /// How often at most a failed call is made again.
    public let maxRetries: Int
    /// The wait before the first retry.
    public let delay: Duration
    /// The factor by which each further retry multiplies the wait; 1 where the wait stays the same.
    public let multiplier: Double
    /// The longest wait before jitter.
    public let cap: Duration
    /// The largest share of the wait that is added by chance.
    public let jitter: Double

    /// Waits the same time before each retry.
    ///
    /// - Parameters:
    ///   - maxRetries: 0 to 1,000, not counting the first attempt.
    ///   - delay: Zero or more, at most a hundred years, rounded to microseconds.
    ///   - jitter: The largest share of the delay that is added by chance: 0 to 1. The default is 0.
    public static func constant(maxRetries: Int, delay: Duration, jitter: Double = 0) -> RetryRule {
        let delay = delay.roundedToMicroseconds
        return RetryRule(
            kind: .constant, maxRetries: maxRetries, delay: delay, multiplier: 1, cap: delay, jitter: jitter)
    }

    /// Waits `delay` before the first retry, and `multiplier` times as long before each further retry, at most `cap`.
    ///
    /// - Parameters:
    ///   - maxRetries: 0 to 1,000, not counting the first attempt.
    ///   - delay: Zero or more, at most a hundred years, rounded to microseconds.
    ///   - multiplier: 1 or more. The default is 2.
    ///   - cap: The longest delay before jitter, the first one included: above zero, rounded to microseconds. The
    ///     default is 60 s.
    ///   - jitter: The largest share of the delay that is added by chance: 0 to 1. The default is 0.
    public static func exponential(
        maxRetries: Int, delay: Duration, multiplier: Double = 2, cap: Duration = .seconds(60), jitter: Double = 0
    ) -> RetryRule {
        RetryRule(
            kind: .exponential, maxRetries: maxRetries, delay: delay.roundedToMicroseconds, multiplier: multiplier,
            cap: cap.roundedToMicroseconds, jitter: jitter)
    }

    /// The rule in words.
    public var description: String {
        var text = "\(self.maxRetries) \(self.maxRetries == 1 ? "retry" : "retries") after \(self.delay.readable)"
        if self.multiplier != 1 { text += ", × \(self.multiplier) each, at most \(self.cap.readable)" }
        if self.jitter > 0 { text += ", jitter \(self.jitter)" }
        return text
    }

    /// The wait before the n-th retry, n from 1: the capped wait, and `jitter` times `draw` of it.
    ///
    /// `draw` is in 0..<1. The result never overflows.
    func delay(beforeRetry n: Int, draw: Double) -> Duration {
        let base = Double(self.delay.saturatingMicroseconds)
        // Zero times a growth that overflowed to infinity would not be a number.
        guard base > 0 else { return .zero }
        let grown =
            switch self.kind {
            case .constant: base
            case .exponential:
                min(
                    base * Self.power(self.multiplier, max(n, 1) - 1),
                    Double(self.cap.saturatingMicroseconds))
            }
        return Duration(saturatingMicroseconds: grown + grown * self.jitter * min(max(draw, 0), 1))
    }

    /// Computed by squaring, in as many steps as the exponent has bits, without a C library.
    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var (result, square, rest) = (1.0, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result
    }

    func validate() throws(BreakerStoreError) {
        try Validation.count(self.maxRetries, in: 0...1_000, "retry.maxRetries")
        try Validation.duration(self.delay, orZero: true, "retry.delay")
        try Validation.number(self.multiplier, in: 1 ... .greatestFiniteMagnitude, "retry.multiplier")
        switch self.kind {
        case .constant: break
        case .exponential: try Validation.duration(self.cap, "retry.cap")
        }
        try Validation.number(self.jitter, in: 0...1, "retry.jitter")
    }
}
