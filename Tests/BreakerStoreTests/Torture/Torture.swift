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
    ///
    /// - Parameter launcher: the words of a command that runs it.
    static func run(_ part: String, seed: UInt64 = 1, through launcher: [String] = []) async throws {
        let (code, said) = try await Self.say(part, ["--seed", "\(seed)"], through: launcher)
        #expect(code == 0, "breaker-torture \(part), seed \(seed):\n\(said)")
    }

    /// Runs a part that is to find something; returns what it says.
    static func violations(of part: String, _ options: [String]) async throws -> String {
        let (code, said) = try await Self.say(part, options)
        #expect(code == 1)
        return said
    }

    private static func say(
        _ part: String,
        _ options: [String],
        through launcher: [String] = []
    ) async throws -> (code: Int32, said: String) {
        let log = try Workplace.here.directory + "/torture.log"
        let arguments = ["--part", part, "--short"] + options
        let worker = try WorkerProcess(
            program: "breaker-torture", arguments: arguments, through: launcher, errors: log)
        let code = await worker.end()
        return (code, String(decoding: Files.read(log) ?? [], as: UTF8.self))
    }
}
