import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if os(Linux)
/// A log that can't be cut, because another process reads it.
@Suite(.timeLimit(.minutes(10))) struct LongLogTests {
    @Test func theReaderIsNamed() throws {
        let shop = try Shop(clock: SystemHostClock())
        // Open, a circuit commits nothing more for a failure, and each commit has the log copied.
        let breaker = try shop.store.breaker(.init(name: "a", trip: .failures(1_000_000, within: .seconds(600))))
        // One that reads another store.
        let elsewhere = try Shop(clock: SystemHostClock())
        let stranger = try LockHolder(elsewhere.path, ["BEGIN", "SELECT count(*) FROM circuit"])
        let reader = try LockHolder(shop.path, ["BEGIN", "SELECT count(*) FROM circuit"])
        try Self.grow(shop.path)

        // In a process of its own, which may only read the wal-index.
        let doctor = try Child.shell("\"$0\" doctor", store: shop.path)
        #expect(doctor.code == 1)
        let advice = "-> process \(reader.pid) (python3) keeps a transaction open: end it; services then copy the rest"
        #expect(doctor.output.contains(advice), "\(doctor.output)")
        let metrics = shop.inspect("metrics").output
        let label = "store=\"\(shop.path)\""
        #expect(metrics.contains("breaker_log_reader{\(label),pid=\"\(reader.pid)\",process=\"python3\"} 1\n"))
        #expect(try #require(Self.logBytes(metrics)) >= 32 << 20)
        #expect(!metrics.contains("pid=\"\(stranger.pid)\""))

        reader.end()
        // Each failure copies the log, until nothing is left; the first one after that finds it cut.
        while try #require(Self.logBytes(shop.inspect("metrics").output)) > 8 << 20 { breaker.recordFailure(Boom()) }
        let later = try Child.shell("\"$0\" doctor --json", store: shop.path).output
        #expect(later.contains(" frames of it not yet "), "\(later)")
        #expect(!shop.inspect("metrics").output.contains("breaker_log_reader{"))
    }

    /// 40 MB of somebody else's.
    private static func grow(_ path: String) throws {
        let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
        let insert = "INSERT INTO mine \(rows) SELECT zeroblob(1000000) FROM n"
        try LockHolder(path, ["PRAGMA wal_autocheckpoint = 0", "CREATE TABLE mine (x)", insert]).end()
    }

    private static func logBytes(_ metrics: String) -> Int? {
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("breaker_log_bytes{") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }
}
#endif
