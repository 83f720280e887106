import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// A file that somebody has prepared: no verb runs what stands in it.
@Suite(.timeLimit(.minutes(10))) struct HostileFileTests {
    static let lines = [
        "list", "list --json", "show a", "metrics", "history", "workers", "doctor", "check", "reset a", "hold open a",
        "release a",
        "forget a --force",
    ]

    @Test(arguments: Self.lines)
    func textOfTheSchemaIsNotRun(line: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("x.db").path
        let canary = directory.appendingPathComponent("canary").path
        let store = try CircuitStore(path: path)
        _ = try store.breaker(.init(name: "a"))
        store.close()
        try Shop.sqlite(
            path,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = sql || '; VACUUM INTO ''\(canary)''' WHERE name IN ('worker', 'circuit');
            """)
        let console = RecordingConsole()
        let code = run(
            arguments: line.split(separator: " ").map { String($0) } + ["--store", path], environment: [:],
            console: console)
        #expect(!FileManager.default.fileExists(atPath: canary))
        #expect(code == .failed)
        #expect((console.talk + console.output).contains("is not as this library makes it"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { $0.hasPrefix("x.db") })
    }
}
