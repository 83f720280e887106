import BreakerTestSupport
import Testing

/// Processes that are killed at any instant, and at chosen ones: nothing acknowledged is lost, and nobody is in the
/// way.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct KillLoopTests {
    @Test func killedProcessesLoseNothingAndBlockNobody() async throws { try await Torture.run("kill") }
}
