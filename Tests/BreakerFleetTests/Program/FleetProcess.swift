#if PostgreSQL
import BreakerTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A real process of `breaker-fleet`, in a directory of its own.
final class FleetProcess: Sendable {
    struct Result: Sendable {
        var code: Int32
        var output: String
        var errors: String
    }

    let directory: String
    private let process: Process
    private let ended = Locked(false)

    /// - Parameter environment: variables beside those of this process; libpq's and the program's own are taken away.
    init(_ arguments: [String], environment: [String: String] = [:], in directory: String? = nil) throws {
        self.directory = try directory ?? Directory.make("breakerstore-fleet")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: BuiltProgram.path(of: "breaker-fleet"))
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("PG") && !$0.key.hasPrefix("BREAKER_") && $0.key != "NOTIFY_SOCKET" }
            .merging(ChildEnvironment.withoutProfile) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        for (name, place) in [("output", \Process.standardOutput), ("errors", \.standardError)] {
            let path = self.directory + "/" + name
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            process[keyPath: place] = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        }
        self.process = process
        let ended = self.ended
        process.terminationHandler = { _ in ended.withLock { $0 = true } }
        try process.run()
    }

    deinit {
        if self.process.isRunning { kill(self.pid, SIGKILL) }
        Directory.remove(self.directory)
    }

    var pid: Int32 { self.process.processIdentifier }
    var isRunning: Bool { !self.ended.withLock { $0 } }
    var errors: String { self.text("errors") }

    private func text(_ name: String) -> String {
        (try? String(contentsOfFile: self.directory + "/" + name, encoding: .utf8)) ?? ""
    }

    /// Waits until the process has ended.
    func result() async throws -> Result {
        try await Fleet.wait("the program ends") { !self.isRunning }
        return Result(code: self.process.terminationStatus, output: self.text("output"), errors: self.errors)
    }

    /// Sends SIGTERM, and waits until the process has ended.
    func end() async throws -> Result {
        kill(self.pid, SIGTERM)
        let time = try await Fleet.wait("the program ends") { !self.isRunning }
        print("breaker-fleet ended \(time) s after SIGTERM")
        return try await self.result()
    }

    /// Runs the program to its end.
    static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        try await FleetProcess(arguments, environment: environment).result()
    }
}
#endif
