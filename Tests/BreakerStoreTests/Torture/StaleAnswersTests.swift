import BreakerTestSupport
import Testing

/// Cached answers are never older than what was acknowledged before they were asked for, whatever happens to the store.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StaleAnswersTests {
    @Test func noAnswerIsStale() async throws { try await Torture.run("stale") }
}
