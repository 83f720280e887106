import BreakerTestSupport
import Testing

/// Processes that are halted where it hurts most: nobody waits for them, and they apply nothing of the past.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SchedulingTests {
    @Test func haltedProcessesStopNobody() async throws { try await Torture.run("schedule") }
}
