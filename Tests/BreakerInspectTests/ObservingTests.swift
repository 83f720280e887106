import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

/// A circuit that only observes must not look as if it refused calls.
@Suite(.timeLimit(.minutes(10))) struct ObservingTests {
    /// Two circuits that would be open, of which one refuses calls.
    private func shop() throws -> Shop {
        let shop = try Shop()
        let breaker = try shop.store.breaker(
            .init(name: "a", trip: .failures(2, within: .seconds(60)), mode: .observing))
        for _ in 0..<2 { breaker.recordFailure(Boom()) }
        #expect(breaker.isCallPermitted)
        return shop
    }

    @Test func isMarkedInTheList() throws {
        let shop = try self.shop()
        try shop.circuit("b", failures: 2)
        try shop.circuit("c")
        let lines = shop.inspect("list").output.split(separator: "\n")
        try #require(lines.count == 4)
        // Behind those that refuse calls.
        #expect(lines[1].contains(#/^b +open  /#) && lines[2].contains(#/^a +open \(observing\)  /#), "\(lines)")
        let json = shop.inspect("list", "--json").output
        #expect(json.contains(#/"mode":"enforcing","name":"b".*"mode":"observing","name":"a",.*"state":"open"/#))
        // What is held open refuses calls.
        try shop.store.hold("a", .open)
        #expect(shop.inspect("list", "a").output.contains(#/\na +held-open  /#))
    }

    @Test func isNotTakenForOpenInTheHeadline() throws {
        let shop = try self.shop()
        try shop.circuit("b", failures: 2)
        let console = RecordingConsole(width: 120, height: 24)
        let output = shop.inspect("list", "--watch", "--color=never", on: console).output
        #expect(output.contains("2 circuits: 1 open, 1 observing would refuse"), "\(output)")
        #expect(output.contains(#/a +open \(observing\)/#))
    }

    @Test func isTold() throws {
        let output = try self.shop().inspect("show", "a").output
        #expect(output.contains("\n  state     open (observing) since 2026-01-01 00:00:00Z (0 s ago)\n"), "\(output)")
        #expect(output.contains("\n            no call is refused; enforcing, it would let a probe through in 30 s\n"))
        #expect(output.contains("\n            observing: no call is refused\n"), "\(output)")
    }

    @Test func checkFindsNothingWrong() throws {
        let shop = try self.shop()
        #expect(shop.inspect("check").code == .done)
        #expect(shop.inspect("check").output.isEmpty)
        let json = shop.inspect("check", "a", "--json")
        #expect(json.code == .done)
        #expect(
            json.output.hasPrefix(#"{"checked":1,"degraded":null,"isClosed":true,"isRefusing":false,"notClosed":[],"#))
        try shop.store.hold("a", .open)
        #expect(shop.inspect("check").code == .notClosed)
    }

    @Test func waitReportsWhatItWouldBe() throws {
        let (code, output, _) = try self.shop().inspect("wait", "a", "--for", "open", "--timeout", "1ms")
        #expect(code == .done && output == "a  open (observing)\n")
    }
}
