import BreakerStore
import BreakerStoreJSON
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite struct ShowTests {
    @Test func showsAllOfOneCircuit() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("payments", group: "shop", failures: 2, error: "503\u{7}")
        clock.advance(by: .seconds(10))
        let (code, output, talk) = shop.inspect("show", "payments")
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(
            output.hasPrefix(
                """
                payments
                  state     open since 2026-01-01 00:00:00Z (10 s ago)
                            calls are refused; a probe in 20 s
                  outage    since 00:00:00Z (10 s ago): 2 calls failed, 0 were refused
                  why       tripped: 2 failures within 60 s, the last: 503\\u{7}
                  failures  2 of 2 within 60 s, when it tripped
                            [.......................................2] the 60 s before the trip
                  calls     0 succeeded, 2 failed, 0 ignored, 0 refused
                  error     503\\u{7}
                  workers   1 live worker registered
                  group     shop
                  rules     trips at 2 failures within 60 s
                            stays open for 30 s
                            probes: 1 at a time, 1 must succeed, each within 30 s

                TIME                  EVENT
                """))
        let lines = output.split(separator: "\n")
        #expect(lines.last?.contains(/tripped +closed -> open/) == true)
    }

    @Test func tellsHowProbesGrowAndHowManyMayFail() throws {
        let shop = try Shop()
        let probes = ProbeRule(successesToClose: 63, growth: 2, toleratedShare: 0.07)
        _ = try shop.store.breaker(.init(name: "a", probes: probes))
        let line = "1 at a time, times 2 after each round, 63 must succeed, 7 % of that may fail, each within 30 s"
        #expect(shop.inspect("show", "a").output.contains("probes: \(line)\n"))
        let json =
            #""probes":{"growth":2,"leaseMs":30000,"limit":1,"successesToClose":63,"toleratedShare":0.07}"#
        #expect(shop.inspect("show", "a", "--json").output.contains(json))
        _ = try shop.store.breaker(.init(name: "a"))
        let change = "growth 2 -> 1, tolerated share 0.07 -> 0.0"
        #expect(shop.inspect("history", "a").output.contains(change))
    }

    @Test func showsProbesAndHolds() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let half = try shop.circuit("half", failures: 2)
        clock.advance(by: .seconds(30))
        let permit: CallPermit = try half.admit()
        let pid = ProcessInfo.processInfo.processIdentifier
        let probing = shop.inspect("show", "half").output
        #expect(probing.contains("[\(pid)], for 0 s; its slot is free in 30 s, or at once if that process ends\n"))
        #expect(shop.inspect("show", "half", "--json").output.contains(#""leaseEnds":"2026-01-01T00:01:00.000Z""#))
        permit.discard()
        try shop.store.hold("half", .closed, for: .seconds(60), by: "bob", reason: "a test")
        let held = shop.inspect("show", "half").output
        #expect(held.contains("held-closed since 2026-01-01 00:00:30Z (0 s ago)\n"))
        #expect(held.contains("            calls are let through, and count for no rule, for another 60 s\n"))
        #expect(
            held.contains(
                "  hold      closed by bob, until 2026-01-01 00:01:30Z\n            beneath: open\n            reason: a test\n"
            ))
    }

    @Test func showsItInJSON() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 1)
        let output = shop.inspect("show", "a", "--json").output
        let config = #"""
            "config":{"minimumReporters":1,"mode":"enforcing",\#
            "probes":{"growth":1,"leaseMs":30000,"limit":1,"successesToClose":1,"toleratedShare":0.0},\#
            "recovery":{"capMs":600000,"jitter":0.0,"multiplier":1.0,"outageCapMs":86400000,"timeoutMs":30000},\#
            "slow":null,\#
            "trip":{"count":2,"minimumCalls":null,"rule":"failures","share":null,"windowMs":60000}}
            """#
        #expect(output.contains(config))
        #expect(output.contains(#""failureTimes":[{"at":"2026-01-01T00:00:00.000Z","atMs":1767225600000}]"#))
        #expect(output.hasSuffix("\"version\":1}\n"))
        let parsed = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        #expect(parsed?.keys.sorted() == ["circuit", "created", "degraded", "events", "link", "version"])
    }

    @Test func fitsATerminal() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2, error: String(repeating: "long ", count: 40))
        let console = RecordingConsole(width: 80)
        let lines = shop.inspect("show", "a", "--color=never", on: console).output.split(separator: "\n")
        #expect(lines.allSatisfy { String($0).displayWidth <= 80 })
        // Nothing is lost.
        #expect(lines.joined().matches(of: #/long/#).count >= 80)
        #expect(shop.inspect("show", "a").output.contains(String(repeating: "long ", count: 39)))
    }

    /// The head stays on the screen of a real terminal, however much has happened.
    @Test(arguments: [("", 2...9), (" --limit 2", 2...2), (" --limit 12", 12...12)])
    func leavesTheHeadOnTheScreen(option: String, events: ClosedRange<Int>) throws {
        let shop = try Shop(clock: SystemHostClock())
        let breaker = try shop.circuit("a", failures: 2, error: String(repeating: "long ", count: 20), recovery: 600)
        for _ in 0..<20 {
            try shop.store.probe("a")
            let probe: CallPermit = try breaker.admit()
            probe.fail(Boom())
        }
        let output = try Child.terminal("\"$0\" show a --color never\(option)", store: shop.path, columns: 80).output
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "a")
        // A reason that has no room beside its event stands below it.
        let rows = lines.drop { !$0.hasPrefix("TIME") }.dropFirst().filter { !$0.isEmpty && !$0.hasPrefix(" ") }
        #expect(events.contains(rows.count), "\(output)")
        // The last line is the shell's.
        if option.isEmpty { #expect(lines.count <= 24, "\(output)") }
        #expect(lines.allSatisfy { String($0).displayWidth <= 80 })
        let kinds = shop.inspect("show", "a", "--json", "--limit", "3").output.matches(of: #/"kind":/#)
        #expect(kinds.count == 3)
    }

    /// Also where the terminal breaks a name and an error that have no blanks.
    @Test func leavesTheHeadOnTheScreenWithLongTexts() throws {
        let shop = try Shop(clock: SystemHostClock())
        let name = String(repeating: "n", count: 180)
        let breaker = try shop.circuit(name, failures: 2, error: String(repeating: "e", count: 90), recovery: 600)
        for _ in 0..<20 {
            try shop.store.probe(name)
            let probe: CallPermit = try breaker.admit()
            probe.fail(Boom())
        }
        let output = try Child.terminal("\"$0\" show \(name) --color never", store: shop.path, columns: 80).output
        let rows = output.split(separator: "\n", omittingEmptySubsequences: false).map { max(1, ($0.count + 79) / 80) }
        #expect(rows.reduce(0, +) <= 24, "\(output)")
    }

    /// What tripped it stays to be seen when it no longer counts, and under a hold.
    @Test func showsTheWholeOutage() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a", failures: 2)
        clock.advance(by: .seconds(90))
        let probe: CallPermit = try breaker.admit()
        clock.advance(by: .seconds(2))
        probe.fail(Boom())
        clock.advance(by: .seconds(5))
        try shop.store.hold("a", .open, by: "bob")
        let output = shop.inspect("show", "a").output
        #expect(output.contains("  outage    since 00:00:00Z (97 s ago): 3 failed (1 probe), 0 refused\n"))
        #expect(output.contains("  failures  2 of 2 within 60 s, when it tripped\n"))
        #expect(output.contains("            beneath: open\n"))
        #expect(output.contains(#/probe failed +open +\S+ +after 2 s: HTTPError\n/#), "\(output)")
    }

    @Test func needsOneName() throws {
        let shop = try Shop()
        try shop.circuit("payments")
        #expect(shop.inspect("show").code == .usage)
        #expect(shop.inspect("show", "a", "b").code == .usage)
        #expect(shop.inspect("show", "pay*").code == .noSuchCircuit)
        #expect(shop.inspect("show", "payment").talk.contains("did you mean 'payments'?"))
    }

    @Test(arguments: [([0], ".........1"), ([60], "1........."), ([70, -5], "1........1"), ([30], ".....1....")])
    func drawsATimeline(ages: [Double], text: String) {
        let now = Date(timeIntervalSince1970: 1_000)
        let times = ages.map { now.addingTimeInterval(-$0) }
        #expect(Timeline.text(times, window: .seconds(60), endingAt: now, slots: 10) == text)
    }
}
