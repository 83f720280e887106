#if PostgreSQL
import BreakerTestSupport
import Foundation
import Testing

/// Ten rounds of what `make torture PART=fleet` does for long.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChaosTests {
    @Test func hostsLinksServerAndNetworkFail() async throws {
        let directory = try Directory.make("breakerstore-chaos")
        defer { Directory.remove(directory) }
        let log = directory + "/log"
        let torture = try WorkerProcess(
            program: "breaker-torture", arguments: ["--part", "fleet", "--short", "--seed", "1"], errors: log)
        defer { torture.clear() }
        let code = await torture.end()
        let said = String(decoding: try Data(contentsOf: URL(fileURLWithPath: log)), as: UTF8.self)
        #expect(code == 0, "breaker-torture fleet:\n\(said)")
        print(said.split(separator: "\n").last ?? "")
    }
}
#endif
