import Testing

@testable import BreakerStore

@Suite struct CallPolicyTests {
    typealias Case = FieldCase<CallPolicy>

    private struct Broken: Error {}

    static func retry(
        _ maxRetries: Int = 3, delay: Duration = .seconds(1), multiplier: Double = 2, cap: Duration = .seconds(60),
        jitter: Double = 0
    ) -> RetryRule {
        .exponential(maxRetries: maxRetries, delay: delay, multiplier: multiplier, cap: cap, jitter: jitter)
    }

    static let cases: [Case] = [
        Case("defaults") { _ in },
        Case("timeout of the lease") { $0.timeout = .seconds(30) },
        Case("timeout of 1 µs") { $0.timeout = .microseconds(1) },
        Case("timeout of 0", refused: "timeout") { $0.timeout = .zero },
        Case("timeout that rounds to 0", refused: "timeout") { $0.timeout = .nanoseconds(1) },
        Case("negative timeout", refused: "timeout") { $0.timeout = .seconds(-1) },
        Case("timeout above the lease", refused: "timeout") { $0.timeout = .seconds(30) + .microseconds(1) },
        Case("timeout overflowing", refused: "timeout") { $0.timeout = Duration(attoseconds: .max) },
        Case("no retries") { $0.retry = Self.retry(0) },
        Case("1,000 retries") { $0.retry = Self.retry(1_000) },
        Case("-1 retries", refused: "retry.maxRetries") { $0.retry = Self.retry(-1) },
        Case("1,001 retries", refused: "retry.maxRetries") { $0.retry = Self.retry(1_001) },
        Case("delay 0") { $0.retry = Self.retry(delay: .zero) },
        Case("constant delay 0") { $0.retry = .constant(maxRetries: 1, delay: .zero) },
        Case("negative delay", refused: "retry.delay") { $0.retry = Self.retry(delay: .seconds(-1)) },
        Case("delay too long", refused: "retry.delay") {
            $0.retry = .constant(maxRetries: 1, delay: .longestAllowed + .seconds(1))
        },
        Case("multiplier 1") { $0.retry = Self.retry(multiplier: 1) },
        Case("multiplier below 1", refused: "retry.multiplier") { $0.retry = Self.retry(multiplier: 0.9) },
        Case("multiplier NaN", refused: "retry.multiplier") { $0.retry = Self.retry(multiplier: .nan) },
        Case("multiplier infinite", refused: "retry.multiplier") { $0.retry = Self.retry(multiplier: .infinity) },
        Case("cap 0", refused: "retry.cap") { $0.retry = Self.retry(cap: .zero) },
        Case("cap too long", refused: "retry.cap") { $0.retry = Self.retry(cap: .longestAllowed + .seconds(1)) },
        Case("jitter 1") { $0.retry = Self.retry(jitter: 1) },
        Case("jitter negative", refused: "retry.jitter") { $0.retry = Self.retry(jitter: -0.1) },
        Case("constant jitter above 1", refused: "retry.jitter") {
            $0.retry = .constant(maxRetries: 1, delay: .seconds(1), jitter: 1.1)
        },
    ]

    @Test(arguments: Self.cases)
    func namesTheField(field: Case) {
        let config = CircuitBreaker.Config(name: "a")
        field.check(CallPolicy()) { value throws(BreakerStoreError) in try value.validate(for: config) }
    }

    @Test func ignoresACancellationAlone() {
        #expect(CallPolicy().classify(CancellationError()) == .ignored)
        #expect(CallPolicy().classify(Broken()) == .failure)
    }

    @Test func describesAnErrorByItsType() {
        #expect(CallPolicy().describe(Broken()) == "Broken")
        #expect(CallPolicy().describe(CancellationError()) == "CancellationError")
    }
}
