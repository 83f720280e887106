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
        #expect(output == "payments  open -> open, probes let through\n")
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
    @Test(arguments: ["a closed", "d held open", "e held closed", "due", "half"])
    func leavesAlone(_ name: String) throws {
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
        #expect(talk == "nothing there waits for its probe\n")
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
            talk == "This would probe 1 circuit:\n  b open  open -> open, probes let through\nGo on? [y/N] ")
        #expect(output == "b open  open -> open, probes let through\n")
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
}
