import BreakerTestSupport
import CTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The short form of what `make torture` does for long.
enum Torture {
    /// Runs a part in a process of its own, and fails the test with what that says if anything was violated.
    static func run(_ part: String, seed: UInt64 = 1) async throws {
        let log = try Workplace.here.directory + "/torture.log"
        let arguments = ["--part", part, "--short", "--seed", "\(seed)"]
        let worker = try WorkerProcess(program: "breaker-torture", arguments: arguments, errors: log)
        let code = await worker.end()
        let said = String(decoding: Files.read(log) ?? [], as: UTF8.self)
        #expect(code == 0, "breaker-torture \(arguments.joined(separator: " ")):\n\(said)")
    }
}
