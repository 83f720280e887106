import BreakerTestSupport
import Testing

/// What a power cut leaves of all that was written: nothing is lost that was acknowledged, nothing is half there.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct PowerCutTests {
    @Test func nothingAcknowledgedIsLost() async throws { try await Torture.run("power") }

    #if os(Linux)
    /// A disk that is never told of one of the syncs loses what was promised, or breaks: the part must notice.
    @Test(arguments: ["trip-sync", "checkpoint-sync", "database-sync"])
    func aMissingSyncIsNoticed(sync: String) async throws {
        let said = try await Torture.violations(of: "power", ["--without", sync, "--seed", "1"])
        #expect(said.contains("VIOLATION"), "\(said)")
        #expect(!said.contains("the harness itself failed"), "\(said)")
    }
    #endif
}
