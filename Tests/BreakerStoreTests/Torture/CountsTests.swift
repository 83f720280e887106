import BreakerTestSupport
import Testing

/// What processes count together is what their own logs say, whoever is killed; and circuits trip when those say so.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CountsTests {
    @Test func countsAndWindowsAreThoseOfTheLogs() async throws { try await Torture.run("counts") }
}
