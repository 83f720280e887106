import BreakerStore
import Testing

@Suite struct ConfigRoundingTests {
    static let odd = Duration.nanoseconds(1_000_000_499)

    @Test func roundsAtInit() throws {
        #expect(TripRule.failures(1, within: Self.odd) == .failures(1, within: .seconds(1)))
        let recovery = RecoveryRule(timeout: Self.odd, cap: Self.odd)
        #expect(recovery.timeout == .seconds(1))
        #expect(recovery.cap == .seconds(1))
        #expect(ProbeRule(lease: Self.odd).lease == .seconds(1))
        #expect(
            RetryRule.exponential(maxRetries: 1, delay: Self.odd, cap: Self.odd)
                == .exponential(maxRetries: 1, delay: .seconds(1), cap: .seconds(1)))
        #expect(
            RetryRule.constant(maxRetries: 1, delay: Self.odd) == .constant(maxRetries: 1, delay: .seconds(1)))
    }

    @Test func roundsWhenSet() throws {
        var config = CircuitBreaker.Config(name: "a")
        config.recovery.timeout = Self.odd
        config.recovery.cap = Self.odd
        config.probes.lease = Self.odd
        #expect(config.recovery.timeout == .seconds(1))
        #expect(config.recovery.cap == .seconds(1))
        #expect(config.probes.lease == .seconds(1))
        #expect(try JSON.value(CircuitBreaker.Config.self, JSON.text(config)) == config)
    }

    @Test(arguments: [(Duration.seconds(30), Duration.seconds(600)), (.seconds(3_600), .seconds(3_600))])
    func theShortInitNeverCutsItsRecovery(timeout: Duration, cap: Duration) {
        let config = CircuitBreaker.Config(
            name: "a", group: "g", recoveryTimeout: timeout, maxFailures: 3, rollingWindow: .seconds(10))
        let long = CircuitBreaker.Config(
            name: "a", group: "g", trip: .failures(3, within: .seconds(10)),
            recovery: RecoveryRule(timeout: timeout, cap: cap))
        #expect(config == long)
    }
}
