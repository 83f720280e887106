import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What `list` tells of an outage, and on which terminals.
@Suite(.timeLimit(.minutes(10))) struct ListColumnsTests {
    /// A circuit that tripped and whose probe failed a minute later.
    private func reopened() throws -> Shop {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a", failures: 2)
        clock.advance(by: .seconds(61))
        let probe: CallPermit = try breaker.admit()
        probe.fail(Boom())
        clock.advance(by: .seconds(10))
        return shop
    }

    @Test func showsWhatTrippedAndSinceWhen() throws {
        let shop = try self.reopened()
        // Of the failures none is within the window any more.
        #expect(try shop.store.circuit(named: "a")?.failureCount == 0)
        let row = try shop.row("a")
        #expect(row["OUTAGE"] == "71 s" && row["SINCE"] == "10 s")
        #expect(row["FAILURES"] == "2/2" && row["RETRY-IN"] == "20 s")
        #expect(row["TRIPS"] == "1")
        try shop.store.hold("a", .open)
        #expect(try shop.row("a")["FAILURES"] == "2/2")
        try shop.store.reset("a")
        #expect(try shop.row("a")["FAILURES"] == "0/2")
    }

    @Test func saysNothingThatNobodyKnows() throws {
        let shop = try self.reopened()
        shop.store.close()
        try Shop.sqlite(shop.path, "DELETE FROM event; UPDATE circuit SET outage_since = NULL")
        let row = try shop.row("a")
        #expect(row["OUTAGE"] == "-" && row["FAILURES"] == "-" && row["TRIPS"] == "0")
    }

    @Test func showsHowManyCallsWereRefused() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a", failures: 2)
        for _ in 0..<3 { #expect(throws: CircuitOpenError.self) { try breaker.run { 1 } } }
        shop.store.close()
        #expect(try shop.row("a")["REFUSED"] == "3")
    }

    static let widths: [(columns: Int, titles: [String])] = [
        (200, ["NAME", "STATE", "OUTAGE", "SINCE", "FAILURES", "RETRY-IN", "TRIPS", "REFUSED", "LAST-ERROR"]),
        (110, ["NAME", "STATE", "OUTAGE", "SINCE", "RETRY-IN", "TRIPS", "REFUSED", "LAST-ERROR"]),
        (80, ["NAME", "STATE", "OUTAGE", "RETRY-IN", "TRIPS", "REFUSED", "LAST-ERROR"]),
        (70, ["NAME", "STATE", "OUTAGE", "RETRY-IN", "TRIPS", "REFUSED"]),
        (60, ["NAME", "STATE", "OUTAGE", "RETRY-IN", "TRIPS"]),
    ]

    /// On real terminals.
    @Test(arguments: Self.widths)
    func showsTheColumnsThatHaveRoom(columns: Int, titles: [String]) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("payments/checkout-eu-1", failures: 2, error: String(repeating: "long ", count: 50))
        let shown = try Child.terminal("\"$0\" list --color never", store: shop.path, columns: columns).output
        let lines = shown.split(separator: "\n").map { String($0) }
        #expect(lines.first?.split(separator: " ").map { String($0) } == titles)
        #expect(lines.count == 2 && lines.allSatisfy { $0.displayWidth <= columns }, "\(shown)")
    }

    /// After the wall clock was set, dates are up to two seconds beside it; times between two of them are right.
    @Test(arguments: [3_600_500_000, -3_599_500_000])
    func showsTimesByOneClock(step: Int) throws {
        let shop = try Shop(clock: SystemHostClock())
        let earliest = ContinuousClock.now
        try shop.circuit("a", failures: 2)
        let latest = ContinuousClock.now
        shop.store.close()
        try Shop.sqlite(
            shop.path,
            """
            UPDATE clock SET offset = offset + \(step), reserved = reserved + \(step);
            UPDATE circuit SET since = since + \(step), open_until = open_until + \(step);
            UPDATE event SET at = at + \(step);
            """)
        let least = ContinuousClock.now - latest
        let output = shop.inspect("list", "--json").output
        let most = ContinuousClock.now - earliest
        let found = try #require(try #/"retryInMs":(\d+)/#.firstMatch(in: output)?.1)
        let left = Duration.milliseconds(try #require(Int(found)))
        let range = .seconds(30) - most - .milliseconds(2)...(.seconds(30) - least + .milliseconds(2))
        #expect(range.contains(left), "\(left) is not within \(range)")
    }
}
