import BreakerTestSupport
import Testing

/// A disk without room: calls run, are counted in memory, and their reports come back to the file.
@Suite(.ownDirectory, .timeLimit(.minutes(3))) struct FullDiskTests {
    @Test func aFullDiskLosesNothingAndStopsNobody() async throws { try await Torture.run("disk") }
}
