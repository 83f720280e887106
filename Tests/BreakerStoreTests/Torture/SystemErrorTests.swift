import BreakerTestSupport
import Testing

/// System calls that fail: calls run, are counted in memory, and their reports come back to the file.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SystemErrorTests {
    @Test func errorsOfTheSystemLoseNothingAndStopNobody() async throws { try await Torture.run("errors") }
}
