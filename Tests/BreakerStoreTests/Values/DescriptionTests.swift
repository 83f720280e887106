import BreakerStore
import Foundation
import Testing

/// What values say of themselves, and what tests of users can make of them.
@Suite struct DescriptionTests {
    private let date = Date(timeIntervalSince1970: 0)

    @Test func errorsAreTheirDescriptionsForFoundation() {
        let errors: [any Error & CustomStringConvertible] = [
            CircuitOpenError(name: "a", cause: .probing), CallTimeoutError(name: "a", timeout: .seconds(3)),
            BreakerStoreError(code: .busy, message: "m", advice: "try again"),
        ]
        for error in errors { #expect(error.localizedDescription == error.description) }
        #expect(
            CallTimeoutError(name: "a", timeout: .seconds(3)).description
                == "a call of circuit 'a' took longer than 3 s and was cancelled")
    }

    @Test func rulesCanBeReadAndPrinted() {
        #expect(TripRule.failures(5, within: .seconds(60)).count == 5)
        #expect(TripRule.failures(5, within: .seconds(60)).window == .seconds(60))
        #expect(TripRule.consecutiveFailures(3).count == 3)
        #expect(TripRule.consecutiveFailures(3).window == nil)
        let retry = RetryRule.exponential(maxRetries: 2, delay: .seconds(1), jitter: 0.5)
        #expect((retry.maxRetries, retry.delay, retry.multiplier) == (2, .seconds(1), 2))
        #expect((retry.cap, retry.jitter) == (.seconds(60), 0.5))
        #expect("\(retry)" == "2 retries after 1 s, × 2.0 each, at most 60 s, jitter 0.5")
        #expect("\(RetryRule.constant(maxRetries: 1, delay: .zero))" == "1 retry after 0 s")
        #expect("\(RecoveryRule())" == "30 s")
        #expect(
            "\(RecoveryRule(multiplier: 2, jitter: 0.1))"
                == "30 s, × 2.0 for each trip in a row, at most 10 min, jitter 0.1")
        #expect("\(ProbeRule())" == "1 at a time, 1 to close, lease 30 s")
        #expect(
            "\(ProbeRule(successesToClose: 20, growth: 2, toleratedShare: 0.07))"
                == "1 at a time, × 2 after each round, 20 to close, 7 % may fail, lease 30 s")
    }

    @Test func statesAndHealthCanBeAskedAndPrinted() {
        #expect(CircuitState.open(until: self.date).isOpen)
        #expect(!CircuitState.held(.open, until: nil).isOpen)
        #expect(CircuitState.closed.isClosed)
        #expect(!CircuitState.held(.closed, until: nil).isClosed)
        #expect("\(CircuitState.closed)" == "closed")
        #expect("\(CircuitState.open(until: self.date))" == "open until 1970-01-01 00:00:00 +0000")
        #expect("\(CircuitState.halfOpen)" == "half-open")
        #expect("\(CircuitState.held(.open, until: nil))" == "held open")
        let degraded = StoreHealth.degraded(since: self.date, error: BreakerStoreError(code: .full, message: "m"))
        #expect(StoreHealth.healthy.isHealthy && !StoreHealth.closed.isHealthy && !degraded.isHealthy)
        #expect(degraded == .degraded(since: self.date, error: BreakerStoreError(code: .full, message: "m")))
        #expect("\(degraded)" == "degraded since 1970-01-01 00:00:00 +0000: BreakerStoreError.full: m")
    }

    @Test func eventsAndSnapshotsCanBeMade() {
        let event = CircuitEvent(id: 1, circuit: "a", kind: .reset, at: self.date, reason: "b\nc", by: "ann")
        #expect("\(event)" == "1970-01-01 00:00:00 +0000 reset 'a' by ann: b\\u{A}c")
        let worker = WorkerSnapshot(id: 1, name: "w", pid: 2, since: self.date)
        let probe = CircuitSnapshot.Probe(worker: worker.id, since: self.date, leaseEnds: self.date)
        let hold = CircuitSnapshot.Hold(state: .open, since: self.date)
        let snapshot = CircuitSnapshot(
            name: "a", config: .init(name: "a"), since: self.date, probes: [probe], hold: hold)
        #expect(snapshot.state == .closed && snapshot.probes == [probe] && snapshot.hold?.by == nil)
        #expect(CallOutcome(circuit: "a", result: .refused).duration == .zero)
    }

    @Test func handlesSayWhoseTheyAre() throws {
        let fixture = try StoreFixture()
        #expect("\(try fixture.breaker("a"))" == "CircuitBreaker('a', \(fixture.store.path))")
        #expect(FileManager.default.fileExists(atPath: fixture.store.path))
    }
}
