import BreakerTestSupport
import Testing

/// Files that are taken away, replaced and given back: workers go on, and meet in one file again.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct FilesUnderFeetTests {
    @Test func filesThatAreTakenAwayStopNobody() async throws { try await Torture.run("files") }
}
