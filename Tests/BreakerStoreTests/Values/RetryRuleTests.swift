import Testing

@testable import BreakerStore

@Suite struct RetryRuleTests {
    struct Case: Sendable {
        let rule: RetryRule
        let n: Int
        var draw = 0.0
        let delay: Duration
    }

    static let exponential = RetryRule.exponential(
        maxRetries: 9, delay: .milliseconds(100), multiplier: 3, cap: .seconds(2), jitter: 0.5)
    static let constant = RetryRule.constant(maxRetries: 9, delay: .seconds(90), jitter: 0.1)

    @Test(arguments: [
        Case(rule: Self.constant, n: 1, delay: .seconds(90)),
        Case(rule: Self.constant, n: 1_000, delay: .seconds(90)),
        Case(rule: Self.constant, n: 1, draw: 0.5, delay: .milliseconds(94_500)),
        Case(rule: Self.exponential, n: 1, delay: .milliseconds(100)),
        Case(rule: Self.exponential, n: 2, delay: .milliseconds(300)),
        Case(rule: Self.exponential, n: 3, delay: .milliseconds(900)),
        Case(rule: Self.exponential, n: 4, delay: .seconds(2)),
        Case(rule: Self.exponential, n: 4, draw: 0.5, delay: .milliseconds(2_500)),
        Case(rule: Self.exponential, n: 3, draw: 0.2, delay: .milliseconds(990)),
        // The first delay is capped too.
        Case(rule: .exponential(maxRetries: 1, delay: .seconds(61)), n: 1, delay: .seconds(60)),
        // Nothing overflows.
        Case(rule: Self.exponential, n: .max, delay: .seconds(2)),
        Case(rule: Self.exponential, n: 0, delay: .milliseconds(100)),
        Case(rule: Self.exponential, n: .min, delay: .milliseconds(100)),
        Case(rule: Self.exponential, n: 4, draw: 7, delay: .seconds(3)),
        Case(rule: Self.exponential, n: 4, draw: -7, delay: .seconds(2)),
        Case(rule: .exponential(maxRetries: 1, delay: .zero), n: .max, delay: .zero),
        Case(rule: .constant(maxRetries: 1, delay: .seconds(-1)), n: 1, delay: .zero),
        Case(
            rule: .exponential(maxRetries: 1, delay: .seconds(1), multiplier: .infinity), n: 2, delay: .seconds(60)),
        Case(
            rule: .constant(maxRetries: 1, delay: Duration(attoseconds: .max), jitter: 1), n: 1, draw: 1,
            delay: Duration(wholeMicroseconds: .max)),
    ])
    func waits(item: Case) {
        #expect(item.rule.delay(beforeRetry: item.n, draw: item.draw) == item.delay)
    }
}
