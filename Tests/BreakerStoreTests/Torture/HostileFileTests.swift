import BreakerTestSupport
import Testing

/// Files and moments that an enemy makes: nothing in a file runs, and no service is without a breaker that trips.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HostileFileTests {
    @Test func hostileFilesHarmNobody() async throws { try await Torture.run("hostile") }
}
