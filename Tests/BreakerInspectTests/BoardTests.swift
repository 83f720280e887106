import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What the tool tells of the file in which the calls are counted.
@Suite(.timeLimit(.minutes(10))) struct BoardTests {
    private func finding(_ shop: Shop) throws -> (status: String, finding: String) {
        let document = try JSONSerialization.jsonObject(with: Data(shop.inspect("doctor", "--json").output.utf8))
        let findings = (document as? [String: Any])?["findings"] as? [[String: Any]] ?? []
        let board = try #require(findings.first { $0["check"] as? String == "board" })
        return (board["status"] as? String ?? "", "\(board["finding"] ?? "") \(board["advice"] ?? "")")
    }

    @Test func doctorFindsItInPlace() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 1)
        #expect(try self.finding(shop) == ("ok", "it is in place <null>"))
    }

    static let faults: [(line: String, status: String, finding: String)] = [
        ("rm \"$BREAKER_STORE-board\"", "note", "there is none: "),
        ("rm \"$BREAKER_STORE-board\"; mkdir -m 0600 \"$BREAKER_STORE-board\"", "wrong", "it is not a board: "),
        ("head -c 70000 /dev/zero >\"$BREAKER_STORE-board\"", "wrong", "it is not a board: "),
        ("chmod 0644 \"$BREAKER_STORE-board\"", "ok", "it is in place"),
    ]

    @Test(arguments: Self.faults) func doctorFindsWhatIsWrong(line: String, status: String, finding: String) throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 1)
        try #require(try Child.shell(line, store: shop.path).code == 0)
        let found = try self.finding(shop)
        #expect(found.status == status && found.finding.hasPrefix(finding), "\(found)")
        if line.hasPrefix("chmod") {
            #expect(shop.inspect("doctor").output.contains("shop.db-board' is 0644"))
        }
    }

    /// A board of another file, as after a backup was restored.
    @Test func doctorFindsAStranger() throws {
        let (shop, other) = (try Shop(), try Shop())
        for shop in [shop, other] { try shop.circuit("a", failures: 1) }
        let line = "cp '\(other.path)-board' \"$BREAKER_STORE-board\""
        try #require(try Child.shell(line, store: shop.path).code == 0)
        let found = try self.finding(shop)
        #expect(found.status == "note" && found.finding.hasPrefix("it belongs to another boot or another "), "\(found)")
        shop.store.close()
        #expect(try self.finding(shop).status == "ok")
    }

    /// A process had no board for a while: its circuits are named as long as it lives.
    @Test func doctorNamesCircuitsThatWereCountedAlone() async throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try #require(try Child.shell("mkdir -m 0700 \"$BREAKER_STORE-board\"", store: shop.path).code == 0)
        // A circuit without a handle is dropped after a while, however fast this clock is made to run.
        let alone = try shop.circuit("alone", failures: 1)
        // Each waits for the store's thread, which tells the file every five seconds.
        while !shop.inspect("show", "alone", "--json").output.contains("\"failed\":1") {
            clock.advance(by: .seconds(5))
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try self.finding(shop).finding.hasPrefix("it is not a board"))
        try #require(try Child.shell("rmdir \"$BREAKER_STORE-board\"", store: shop.path).code == 0)
        clock.advance(by: .seconds(5))
        try shop.circuit("together", failures: 1)
        let found = try self.finding(shop)
        #expect(found.status == "note" && found.finding.contains("calls of 'alone' in their own memory"), "\(found)")
        withExtendedLifetime(alone) { shop.store.close() }
        #expect(try self.finding(shop).status == "ok")
    }

    // MARK: - Degraded workers

    @Test func showsWhoIsDegraded() async throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock, busyTimeout: .milliseconds(1))
        try shop.circuit("a", failures: 1)
        #expect(!shop.inspect("workers").output.contains("DEGRADED"))
        let json = shop.inspect("workers", "--json").output
        #expect(json.contains(#"{"degradedSince":null,"degradedSinceMs":null,"id""#))
        let lock = try LockHolder(shop.path, ["BEGIN IMMEDIATE"])
        #expect(throws: BreakerStoreError.self) { try { try shop.store.hold("a", .open) }() }
        while !shop.inspect("workers").output.contains("DEGRADED") { try await Task.sleep(for: .milliseconds(10)) }
        clock.advance(by: .seconds(7))
        var output = shop.inspect("workers").output
        // A worker locks its bytes first. Since when it is degraded stands on the board a moment later.
        while output.contains(#/ 0 s ago +-\n/#) {
            try await Task.sleep(for: .milliseconds(10))
            output = shop.inspect("workers").output
        }
        let table = #/^NAME +PID +SINCE +VERSION +DEGRADED +PROBING\n.* 7 s ago +[0-9.]+ +7 s ago +-\n/#
        #expect(output.contains(table), "\(output)")
        #expect(shop.inspect("workers", "--json").output.contains(#""degradedSince":"2026-01-01T00:00:00"#))
        let console = RecordingConsole(width: 120, height: 24)
        let screen = shop.inspect("list", "--watch", "--color=never", on: console).output
        #expect(screen.contains("1 circuit: all closed, 1 worker degraded"), "\(screen)")
        _ = lock.pid
    }
}
