import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct ProbeTests {
    @Test func letsTheNextCallTryTheService() throws {
        let shop = try Shop(clock: ManualHostClock())
        let breaker = try shop.circuit("payments", failures: 2)
        #expect(!breaker.isCallPermitted)
        let (code, output, talk) = shop.inspect("probe", "payments", "--reason", "provider is back")
        #expect(code == .done)
        #expect(output == "payments  its next call is a probe\n")
        #expect(talk.isEmpty)
        let event = try #require(try shop.store.history(of: "payments").first)
        #expect(event.kind == .probeAllowed)
        #expect(event.by == "ann")
        #expect(event.reason == "provider is back")
        // One call alone tries the service.
        let probe = try breaker.admit()
        #expect(throws: CircuitOpenError.self) { try breaker.admit() }
        probe.fail(Boom())
        #expect(!breaker.isCallPermitted)
        #expect(shop.inspect("probe", "payments").code == .done)
        #expect(try breaker.run { 1 } == 1)
        #expect(breaker.state == .closed)
    }

    /// Nothing is done to circuits that do not wait.
    @Test(arguments: [
        ("a closed", "is closed"), ("d held open", "is held open by "), ("e held closed", "is held closed by "),
        ("due", "needs none: its next call is a probe"), ("half", "is half-open: "),
    ])
    func leavesAlone(_ name: String, why: String) throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("due", failures: 2, recovery: 1)
        let half = try shop.circuit("half", failures: 2, recovery: 1)
        clock.advance(by: .seconds(1))
        let permit = try half.admit()
        try shop.fillWithStates()
        let before = try shop.store.history().count
        let (code, output, talk) = shop.inspect("probe", name)
        #expect(code == .done)
        #expect(output.isEmpty)
        #expect(talk.hasPrefix("\(name) \(why)"), "\(talk)")
        try shop.store.probe(name)
        #expect(try shop.store.history().count == before)
        permit.discard()
    }

    @Test func asksBeforeItTakesAPattern() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let console = RecordingConsole(answering: ["y"])
        let (code, output, talk) = shop.inspect("probe", "*open", on: console)
        #expect(code == .done)
        #expect(
            talk == "This would probe 1 circuit:\n  b open  its next call is a probe\nGo on? [y/N] ")
        #expect(output == "b open  its next call is a probe\n")
    }

    @Test func showsWhatItWouldDoInJSON() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a", failures: 2)
        let change =
            #"{"changes":[{"from":"open","name":"a","probeAllowed":true,"to":"open"}],"degraded":null,"dryRun":"#
        #expect(
            shop.inspect("probe", "a", "--json", "--dry-run").output == change
                + "true,\"unreadable\":[],\"version\":1}\n")
        #expect(!breaker.isCallPermitted)
        #expect(shop.inspect("probe", "a", "--json").output == change + "false,\"unreadable\":[],\"version\":1}\n")
        #expect(breaker.isCallPermitted)
    }

    @Test func endsLikeTheOthers() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        #expect(shop.inspect("probe").code == .usage)
        #expect(shop.inspect("probe", "b").code == .noSuchCircuit)
        #expect(shop.inspect("probe", "--all").code == .usage)
        #expect(shop.inspect("probe", "--all", "--yes").code == .done)
        #expect(shop.inspect("probe", "z*").talk == "no circuit matches 'z*'\n")
    }

    /// A console in whose pauses the steps are taken, and then the time passes.
    private func console(_ clock: ManualHostClock, _ step: @escaping () -> Void) -> RecordingConsole {
        let console = RecordingConsole()
        console.inPauses = [
            {
                step()
                return .isOver
            }
        ]
        console.inFurtherPauses = {
            clock.advance(by: .seconds(1))
            return .isOver
        }
        return console
    }

    @Test(arguments: [
        (true, ExitCode.done, "closed: the probe of ", " has succeeded\n"),
        (false, ExitCode.notClosed, "open again: the probe of ", " has failed: HTTPError\n"),
    ])
    func saysHowTheProbeEnded(succeeds: Bool, code: ExitCode, start: String, end: String) throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a", failures: 2)
        let console = self.console(clock) {
            _ = try? breaker.run { () throws -> Void in if !succeeds { throw Boom() } }
        }
        #expect(shop.inspect("probe", "a", "--wait", "1m", on: console).code == code)
        let lines = console.output.split(separator: "\n").map { "\($0)\n" }
        #expect(lines.first == "a  its next call is a probe\n")
        #expect(lines.count == 2 && lines[1].hasPrefix("a  " + start) && lines[1].hasSuffix(end), "\(console.output)")
    }

    @Test func aProbeThatNobodyMakesIsWaitedForInVain() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        let console = self.console(clock) {}
        #expect(shop.inspect("probe", "a", "--wait", "20s", on: console).code == .timedOut)
        #expect(console.talk.contains("no probe of 'a' has ended within 20 s"), "\(console.talk)")
        // A circuit that is closed needs no wait.
        try shop.circuit("b")
        #expect(shop.inspect("probe", "b", "--wait", "1h").code == .done)
        for more in [["a*"], ["a", "b"], ["a", "--json"], ["a", "--dry-run"], ["a", "--wait", "0s"]] {
            #expect(shop.inspect(arguments: ["probe", "--wait", "1s"] + more).code == .usage, "\(more)")
        }
    }

    /// Without a probe, the state decides: a held circuit refuses calls, one that was reset does not.
    @Test(arguments: [
        ("held", ExitCode.notClosed, "a  held-open: held by jane: INC-1\n"),
        ("reset", .done, "a  closed: reset by jane\n"),
        ("forgotten", .noSuchCircuit, "'a' is no longer there"),
    ])
    func endsWhenNoProbeCanCome(change: String, code: ExitCode, last: String) throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        let console = self.console(clock) {
            switch change {
            case "held": try? shop.store.hold("a", .open, by: "jane", reason: "INC-1")
            case "reset": try? shop.store.reset("a", by: "jane")
            default: try? shop.store.forget("a")
            }
        }
        let result = shop.inspect("probe", "a", "--wait", "1m", on: console)
        #expect(result.code == code, "\(result)")
        #expect((result.output + result.talk).hasSuffix(last) || result.talk.contains(last), "\(result)")
    }

    @Test(arguments: [(HoldState.open, ExitCode.notClosed), (.closed, .done)])
    func aHeldCircuitIsNotWaitedFor(state: HoldState, code: ExitCode) throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        try shop.store.hold("a", state, by: "jane")
        let result = shop.inspect("probe", "a", "--wait", "1m")
        #expect(result.code == code && result.output.isEmpty)
        #expect(result.talk.hasPrefix("a is held "), "\(result.talk)")
    }
}
