import BreakerTestSupport
import Testing

/// Files that are cut and garbled, before they are opened and while they are open: recovered, or set aside with all
/// bytes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct TornFileTests {
    @Test func tornFilesAreRecoveredOrQuarantined() async throws { try await Torture.run("torn") }
}
