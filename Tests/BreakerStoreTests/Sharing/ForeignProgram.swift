import BreakerTestSupport
import Foundation

/// The document on the file's format, and the program in Python that follows it.
enum ForeignProgram {
    private static let package = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/")
    static let document = Self.package + "/docs/store-format.md"
    private static let script = Self.package + "/Tests/Python/foreign_worker.py"

    static func text() throws -> String { try String(contentsOfFile: Self.document, encoding: .utf8) }

    /// What another program in Python prints that follows the document.
    static func output(of script: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "\(Self.package)/Tests/Python/\(script)"] + arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Starts the program, on the clock of a place.
    static func start(in place: Workplace) throws -> WorkerProcess {
        try place.start("/usr/bin/env", ["python3", self.script, self.document, place.clock.path])
    }

    /// Starts the program and has it open the place's store, which must be there.
    static func open(in place: Workplace) async throws -> WorkerProcess {
        let program = try self.start(in: place)
        try await program.ask("open \(place.store)")
        return program
    }
}
