import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

/// What `list` and `show` tell of counted calls, and of rules about shares of them.
@Suite(.timeLimit(.minutes(10))) struct CountingTests {
    private static let rate = TripRule.failureRate(0.6, minimumCalls: 20, within: .seconds(10))
    private static let slow = SlowCallRule(longerThan: .milliseconds(20), share: 0.9, minimumCalls: 50)

    /// A circuit through which calls have gone: some of them well, then others that failed.
    private func shop(
        succeeded: Int, failed: Int, trip: TripRule = .failureRate(0.6, minimumCalls: 20, within: .seconds(10)),
        slow: SlowCallRule? = nil
    ) throws -> Shop {
        let shop = try Shop()
        let breaker = try shop.store.breaker(.init(name: "payments", trip: trip, slow: slow))
        for _ in 0..<succeeded { breaker.recordSuccess() }
        for _ in 0..<failed { breaker.recordFailure(Boom()) }
        return shop
    }

    @Test func listsRates() throws {
        let row = try self.shop(succeeded: 10, failed: 14).row("payments")
        #expect(row["CALLS/S"] == "2.4" && row["FAILED-%"] == "58.3 %" && row["FAILURES"] == "14/24", "\(row)")
        let busy = try self.shop(succeeded: 995, failed: 5).row("payments")
        #expect(busy["CALLS/S"] == "100" && busy["FAILED-%"] == "0.5 %", "\(busy)")
        let idle = try self.shop(succeeded: 0, failed: 0).row("payments")
        #expect(idle["CALLS/S"] == "0" && idle["FAILED-%"] == "-" && idle["FAILURES"] == "0/0", "\(idle)")
    }

    @Test func listsNoRateThatNobodyCounts() throws {
        let row = try self.shop(succeeded: 3, failed: 1, trip: .failures(5, within: .seconds(60))).row("payments")
        #expect(row["CALLS/S"] == "-" && row["FAILED-%"] == "-" && row["FAILURES"] == "1/5", "\(row)")
        // A slow rule alone counts calls, and no share of failures.
        let slow = try self.shop(
            succeeded: 59, failed: 1, trip: .failures(5, within: .seconds(60)), slow: Self.slow
        ).row("payments")
        #expect(slow["CALLS/S"] != "-" && slow["FAILED-%"] == "-" && slow["FAILURES"] == "1/5", "\(slow)")
    }

    /// The window begins again with the trip: what opened the circuit stands there until it is closed.
    @Test func listsTheRateAtTheTrip() throws {
        let shop = try self.shop(succeeded: 8, failed: 12)
        let open = try shop.row("payments")
        #expect(open["STATE"] == "open" && open["FAILURES"] == "12/20" && open["FAILED-%"] == "60 %", "\(open)")
        try shop.store.reset("payments")
        let closed = try shop.row("payments")
        #expect(closed["STATE"] == "closed" && closed["FAILED-%"] == "-", "\(closed)")
        // A trip by slow calls says nothing of a share of failures.
        let clock = ManualHostClock()
        let slow = try Shop(clock: clock)
        let breaker = try slow.store.breaker(.init(name: "payments", trip: Self.rate, slow: Self.slow))
        for _ in 0..<60 { try? breaker.run { clock.advance(by: .milliseconds(50)) } }
        let row = try slow.row("payments")
        #expect(row["STATE"] == "open" && row["FAILURES"] == "-", "\(row)")
    }

    /// A terminal shows the columns only if some circuit has rates.
    @Test(arguments: [(80, false), (200, true)])
    func listsRatesWhereThereIsRoom(width: Int, isShown: Bool) throws {
        func heading(_ shop: Shop) throws -> Substring {
            let console = RecordingConsole(width: width)
            return try #require(shop.inspect("list", "--color=never", on: console).output.split(separator: "\n").first)
        }
        let shop = try self.shop(succeeded: 10, failed: 14)
        try shop.circuit(String(repeating: "a", count: 30), failures: 2, error: String(repeating: "e", count: 90))
        #expect(try heading(shop).contains("CALLS/S  FAILED-%") == isShown)
        let other = try self.shop(succeeded: 3, failed: 1, trip: .failures(5, within: .seconds(60)))
        #expect(try !heading(other).contains("CALLS/S"))
    }

    /// The window moves on while nothing changes in the file.
    @Test func watchesRates() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.store.breaker(
            .init(name: "a", trip: .failureRate(0.6, minimumCalls: 1_000, within: .seconds(10))))
        let console = RecordingConsole(width: 120, height: 24)
        console.inPauses = [
            {
                for _ in 0..<20 { breaker.recordFailure(Boom()) }
                return .isOver
            }
        ]
        #expect(shop.inspect("list", "--watch", "--color=never", on: console).output.contains("20/20        2"))
    }

    @Test func showsCallsAndRates() throws {
        let output = try self.shop(succeeded: 10, failed: 14).inspect("show", "payments").output
        #expect(output.contains("\n  calls     10 succeeded, 14 failed, 0 ignored, 0 refused\n"), "\(output)")
        #expect(
            output.contains(
                "\n  share     14 of 24 calls (58.3 %) failed within 10 s; trips at 60 % of at least 20\n"), "\(output)"
        )
        #expect(!output.contains("  failures  ") && !output.contains("  durations "), "\(output)")
        #expect(output.contains("\n  rules     trips at 60 % of at least 20 calls within 10 s\n"))
    }

    @Test func showsSlowCallsAndDurations() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        var calls = CallPolicy()
        calls.measuresDurations = true
        let breaker = try shop.store.breaker(.init(name: "a", slow: Self.slow), calls: calls)
        for number in 1...100 {
            try breaker.run { clock.advance(by: .milliseconds(number == 1 ? 60_000 : number > 20 ? 2 : 30)) }
        }
        // A handle that is asked for totals moves what it has counted to where all see it.
        #expect(breaker.totals.succeeded == 100 && breaker.totals.durations != nil)
        let output = shop.inspect("show", "a").output
        #expect(output.contains("\n  calls     100 succeeded, 0 failed, 20 slow, 0 ignored, 0 refused\n"), "\(output)")
        #expect(output.contains("\n  durations p50 ≤ 2 ms, p90 ≤ 50 ms, p99 ≤ 50 ms\n"), "\(output)")
        #expect(
            output.contains(#/\n  slow      \d+ of \d+ calls \([0-9.]+ %\) took longer than 20 ms within 60 s; /#),
            "\(output)")
        #expect(output.contains("\n            trips at 90 % of at least 50 calls slower than 20 ms within 60 s\n"))
    }

    static let quantiles: [(counts: [UInt64], text: String?)] = [
        ([0, 0, 0], nil), ([1, 0, 0], "p50 ≤ 1 ms, p90 ≤ 1 ms, p99 ≤ 1 ms"),
        ([90, 10, 0], "p50 ≤ 1 ms, p90 ≤ 1 ms, p99 ≤ 2 ms"), ([1, 0, 9], "p50 > 2 ms, p90 > 2 ms, p99 > 2 ms"),
        ([.max, .max, .max], "p50 ≤ 2 ms, p90 > 2 ms, p99 > 2 ms"), ([], nil),
        ([5], "p50 > 2 ms, p90 > 2 ms, p99 > 2 ms"),
    ]

    /// Numbers of a file may be any.
    @Test(arguments: Self.quantiles) func showsQuantiles(counts: [UInt64], text: String?) throws {
        var counts = counts
        if counts.count == 1 { counts = [0, 0] + counts }
        let durations = CallTotals.Durations(
            bounds: [.milliseconds(1), .milliseconds(2)], counts: counts, sum: .zero)
        #expect(durations.quantiles == text)
    }

    @Test func showsItInJSON() throws {
        let shop = try self.shop(succeeded: 10, failed: 14, slow: Self.slow)
        let output = shop.inspect("show", "payments", "--json").output
        #expect(
            output.contains(
                #/"recent":{"calls":24,"failed":14,"slow":0,"slowCalls":\d+,"slowWindowMs":60000,"windowMs":10000}/#),
            "\(output)")
        #expect(
            output.contains(
                #""slow":{"minimumCalls":50,"share":0.9,"thresholdMs":20,"windowMs":60000},"#
                    + #""trip":{"count":null,"minimumCalls":20,"rule":"failureRate","share":0.6,"windowMs":10000}"#),
            "\(output)")
        #expect(
            output.contains(
                #""totals":{"durations":null,"failed":14,"ignored":0,"refused":0,"slow":0,"succeeded":10}"#),
            "\(output)")
        #expect(output.contains(#""mode":"enforcing""#))
    }
}
