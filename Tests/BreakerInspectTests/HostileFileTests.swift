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
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let canary = shop.directory.appendingPathComponent("canary").path
        try Shop.sqlite(
            shop.path,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = sql || '; VACUUM INTO ''\(canary)''' WHERE name IN ('worker', 'circuit');
            """)
        let (code, output, talk) = shop.inspect(arguments: line.split(separator: " ").map { String($0) })
        #expect(!FileManager.default.fileExists(atPath: canary))
        #expect(code == .failed)
        #expect((talk + output).contains("is not as this library makes it"))
        let names = try FileManager.default.contentsOfDirectory(atPath: shop.directory.path)
        #expect(names.allSatisfy { $0.hasPrefix("shop.db") })
    }
}
