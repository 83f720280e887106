import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite(.timeLimit(.minutes(10))) struct WaitTests {
    /// A console in whose pauses the time passes.
    private func console(_ clock: ManualHostClock, _ steps: [() throws -> Void] = []) -> RecordingConsole {
        let console = RecordingConsole()
        let pass: () -> Pause = {
            clock.advance(by: console.pauses.last ?? .seconds(1))
            return .isOver
        }
        console.inPauses = steps.map { step in
            {
                try? step()
                return pass()
            }
        }
        console.inFurtherPauses = pass
        return console
    }

    @Test func returnsAtOnceWhereTheStateIsThere() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let (code, output, talk) = shop.inspect("wait", "a", "--for", "closed")
        #expect(code == .done)
        #expect(output == "a  closed\n")
        #expect(talk.isEmpty)
    }

    @Test func waitsForAChange() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        let console = self.console(clock, [{}, { try shop.store.reset("a") }])
        #expect(shop.inspect("wait", "a", "--for", "closed", "--timeout", "5m", on: console).code == .done)
        #expect(console.output == "a  closed\n")
        #expect(console.pauses.count == 2)
        #expect(console.pauses.allSatisfy { $0 <= .seconds(1) })
    }

    @Test func knowsBothKindsOfHolds() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        for name in ["d held open", "e held closed"] {
            #expect(shop.inspect("wait", name, "--for", "held").code == .done)
        }
        #expect(shop.inspect("wait", "e held closed", "--for", "held-closed").output == "e held closed  held-closed\n")
    }

    /// Nothing is written when a hold ends by itself.
    @Test func seesThatAHoldIsOver() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.store.hold("a", .open, for: .seconds(1))
        let console = self.console(clock)
        #expect(shop.inspect("wait", "a", "--for", "closed", "--timeout", "5s", on: console).code == .done)
        #expect(console.pauses.count == 10)
    }

    @Test func endsWithTheTime() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        let console = self.console(clock)
        let (code, output, talk) = shop.inspect("wait", "a", "--for", "closed", "--timeout", "1050ms", on: console)
        #expect(code == .timedOut)
        #expect(ExitCode.timedOut.rawValue == 124)
        #expect(output.isEmpty)
        #expect(talk == "breaker-inspect: 'a' is still open after 1.1 s\n")
        // The last pause is no longer than what is left.
        #expect(console.pauses.count == 11)
        #expect(console.pauses.last.map { abs($0 / .milliseconds(1) - 50) < 0.001 } == true)
    }

    @Test func showsItInJSON() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        let open = shop.inspect("wait", "a", "--for", "open", "--json")
        #expect(open.output.hasPrefix(#"{"circuit":{"beneath":null,"#))
        #expect(open.output.hasSuffix("},\"degraded\":null,\"isReached\":true,\"version\":1}\n"))
        let closed = shop.inspect(
            "wait", "a", "--for", "closed", "--timeout", "1s", "--json", on: self.console(clock))
        #expect(closed.code == .timedOut)
        #expect(closed.output.hasSuffix("},\"degraded\":null,\"isReached\":false,\"version\":1}\n"))
    }

    @Test func endsWithTheCircuit() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("payments", failures: 2)
        #expect(shop.inspect("wait", "payment", "--for", "closed").talk.contains("did you mean 'payments'?"))
        let console = self.console(clock, [{ try shop.store.forget("payments") }])
        #expect(shop.inspect("wait", "payments", "--for", "closed", on: console).code == .noSuchCircuit)
    }
}
