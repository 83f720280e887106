import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// An open circuit whose recovery time is over refuses nobody, and every verb says so.
@Suite struct DueTests {
    /// A closed, a due and an open circuit.
    private func shop() throws -> Shop {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("calm")
        try shop.circuit("late", failures: 2, recovery: 10)
        try shop.circuit("shut", failures: 2, recovery: 20)
        clock.advance(by: .seconds(10))
        return shop
    }

    @Test func theListSaysSo() throws {
        let shop = try self.shop()
        #expect(try shop.row("late")["STATE"] == "due")
        #expect(try shop.row("late")["RETRY-IN"] == "now")
        #expect(try shop.row("shut")["STATE"] == "open")
        let names = { (state: String) in
            shop.inspect("list", "--state", state).output.split(separator: "\n").dropFirst().map { $0.prefix(4) }
        }
        #expect(names("due") == ["late"])
        #expect(names("open") == ["shut", "late"])
        #expect(names("due,closed") == ["late", "calm"])
        // Those that refuse calls come first.
        let lines = shop.inspect("list").output.split(separator: "\n").dropFirst()
        #expect(lines.map { $0.prefix(4) } == ["shut", "late", "calm"])
    }

    @Test func showAndTheReportSaySo() throws {
        let shop = try self.shop()
        let shown = shop.inspect("show", "late").output
        #expect(shown.contains("state     due, open since "))
        #expect(shown.contains("the recovery time is over: no call is refused, and the next one is a probe"))
        let path = shop.directory.appendingPathComponent("report.html").path
        #expect(shop.inspect("report", path).code == .done)
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let due = #"<span class="due">due</span><br><span class="dim">no call is refused: the next one is a probe"#
        #expect(page.contains(due))
        #expect(page.contains(#"<span class="open">open</span>"#))
    }

    @Test func jsonKeepsTheStateAndSaysSo() throws {
        let shop = try self.shop()
        let text = shop.inspect("list", "--json").output
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let circuits = try #require(document?["circuits"] as? [[String: Any]])
        #expect(circuits.map { $0["name"] as? String } == ["shut", "late", "calm"])
        #expect(circuits.map { $0["state"] as? String } == ["open", "open", "closed"])
        #expect(circuits.map { $0["isDue"] as? Bool } == [false, true, false])
    }

    @Test func metricsHaveAGauge() throws {
        let shop = try self.shop()
        let lines = shop.inspect("metrics").output.split(separator: "\n").filter { $0.hasPrefix("breaker_due{") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#"circuit="late""#) == true)
        #expect(lines.first?.hasSuffix(" 1") == true)
    }

    @Test func checkListsItAndIsContent() throws {
        let shop = try self.shop()
        let one = shop.inspect("check", "late")
        #expect(one.code == .done)
        #expect(one.output == "late  due\n")
        #expect(shop.inspect("check", "late", "--strict").code == .notClosed)
        let all = shop.inspect("check")
        #expect(all.code == .notClosed)
        #expect(all.output == "shut  open\nlate  due\n")
        #expect(shop.inspect("check", "--strict", "--refusing").code == .usage)
        let json = shop.inspect("check", "late", "--json").output
        #expect(json.contains(#""isClosed":false,"isRefusing":false,"notClosed":[{"#))
        #expect(shop.inspect("check", "--json").output.contains(#""isRefusing":true"#))
    }

    /// Held closed, due, half-open with a free slot, and observing circuits refuse nobody.
    @Test func checkKnowsWhichRefuse() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.store.hold(shop.circuit("held closed").name, .closed)
        try shop.store.hold(shop.circuit("held open").name, .open)
        try shop.circuit("due", failures: 2, recovery: 10)
        let probed = try shop.store.breaker(
            .init(
                name: "half-open", trip: .consecutiveFailures(1), recovery: .init(timeout: .seconds(10)),
                probes: .init(limit: 2)))
        probed.recordFailure()
        let observed = try shop.store.breaker(.init(name: "observing", trip: .consecutiveFailures(1), mode: .observing))
        observed.recordFailure()
        clock.advance(by: .seconds(10))
        let first = try probed.admit()
        for name in ["held closed", "due", "half-open", "observing"] {
            #expect(shop.inspect("check", name, "--refusing").code == .done, "\(name)")
        }
        #expect(shop.inspect("check", "held open", "--refusing").code == .notClosed)
        let second = try probed.admit()
        #expect(shop.inspect("check", "half-open", "--refusing").code == .notClosed)
        first.discard()
        second.discard()
    }

    @Test func aWaitEndsOnceACircuitIsDue() throws {
        let shop = try self.shop()
        #expect(shop.inspect("wait", "late", "--for", "due").code == .done)
        #expect(shop.inspect("wait", "late", "--for", "open").code == .done)
    }

    @Test func theSnapshotSaysSo() throws {
        let shop = try self.shop()
        #expect(try shop.store.circuits().map(\.isDue) == [false, true, false])
        try shop.store.hold("late", .closed)
        #expect(try shop.store.circuit(named: "late")?.isDue == false)
        func made(until end: Date) -> CircuitSnapshot {
            CircuitSnapshot(name: "a", config: .init(name: "a"), state: .open(until: end), since: .distantPast)
        }
        #expect(made(until: .distantPast).isDue)
        #expect(!made(until: .distantFuture).isDue)
        var closed = made(until: .distantPast)
        closed.state = .closed
        #expect(!closed.isDue)
    }
}
