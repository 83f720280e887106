import BreakerStore
import BreakerTestSupport
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct ResetTests {
    @Test func resetsANameWithoutAQuestion() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("payments", failures: 2)
        let (code, output, talk) = shop.inspect("reset", "payments", "--reason", "provider is back")
        #expect(code == .done)
        #expect(output == "payments  open -> closed\n")
        #expect(talk.isEmpty)
        #expect(breaker.state == .closed)
        let event = try #require(try shop.store.history(of: "payments").first)
        #expect(event.kind == .reset)
        #expect(event.by == "ann")
        #expect(event.reason == "provider is back")
    }

    /// One long name moves not all arrows out of sight.
    @Test func alignsTheArrowsOfShortNames() throws {
        let shop = try Shop()
        let long = String(repeating: "long-", count: 20)
        for name in ["a", "bcd", long] { try shop.circuit(name, failures: 1) }
        #expect(
            shop.inspect("reset", "--all", "--dry-run").output
                == "a    closed -> closed\nbcd  closed -> closed\n\(long)  closed -> closed\n")
    }

    @Test func saysWhoDidItAsReported() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(shop.inspect("reset", "a", "--as", "bob").code == .done)
        #expect(try shop.store.history(of: "a").first?.by == "bob")
    }

    @Test(arguments: [("y", true), ("YES", true), ("n", false), ("", false), ("yesterday", false), (nil, false)])
    func asksBeforeItTakesAPattern(answer: String?, isYes: Bool) throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let console = RecordingConsole(answering: answer.map { [$0] } ?? [])
        let (code, output, talk) = shop.inspect("reset", "*open", on: console)
        #expect(
            talk.hasPrefix(
                """
                This would reset 2 circuits:
                  b open       open -> closed
                  d held open  held-open -> closed
                d held open is held open by bob for 0 s, until 2026-01-01 02:00:00Z: moving
                A reset ends that hold. Go on with 2 circuits? [y/N] 
                """))
        #expect(code == (isYes ? .done : .declined))
        #expect(output == (isYes ? "b open       open -> closed\nd held open  held-open -> closed\n" : ""))
        #expect(talk.hasSuffix("nothing was changed\n") == !isYes)
        #expect(try shop.store.circuit(named: "b open")?.state == .closed || !isYes)
        #expect(try shop.store.history(of: "b open").contains { $0.kind == .reset } == isYes)
    }

    @Test func changesWhatWasConfirmedAndNoMore() throws {
        let shop = try Shop()
        for name in ["a1", "a2"] { try shop.circuit(name, failures: 2) }
        let console = RecordingConsole(answering: ["y"])
        console.whileAsked = {
            _ = try? shop.circuit("a3", failures: 2)
            try? shop.store.forget("a1")
        }
        let (code, output, _) = shop.inspect("reset", "a*", on: console)
        #expect(code == .done)
        #expect(output == "a2  open -> closed\n")
        #expect(try shop.store.history(of: "a3").contains { $0.kind == .reset } == false)
    }

    @Test func needsATerminalToAskOn() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        for arguments in ["a*", "--all"] {
            let (code, output, talk) = shop.inspect("reset", arguments)
            #expect(code == .usage)
            #expect(output.isEmpty)
            #expect(
                talk == "breaker-inspect: reset 1 circuit needs confirmation, and there is no terminal to ask on\n"
                    + "hint: give --yes to confirm, or --dry-run to see what it would change\n")
        }
        #expect(shop.inspect("reset", "a*", "--yes").output == "a  open -> closed\n")
        #expect(shop.inspect("reset", "--all", "--yes").output == "a  closed -> closed\n")
    }

    @Test func showsWhatItWouldDo() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a", failures: 2)
        let (code, output, talk) = shop.inspect("reset", "--all", "--dry-run")
        #expect(code == .done)
        #expect(output == "a  open -> closed\n")
        #expect(talk == "dry run: nothing was changed\n")
        #expect(breaker.state != .closed)
    }

    @Test func saysThatNothingMatches() throws {
        let shop = try Shop()
        let (code, output, talk) = shop.inspect("reset", "z*")
        #expect(code == .done)
        #expect(output.isEmpty)
        #expect(talk == "no circuit matches 'z*'\n")
        #expect(shop.inspect("reset", "--all").talk == "the store has no circuits\n")
    }

    @Test func changesNothingIfANameIsMissing() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("payments", failures: 2)
        let (code, output, talk) = shop.inspect("reset", "payments", "payment")
        #expect(code == .noSuchCircuit)
        #expect(output.isEmpty)
        #expect(talk == "breaker-inspect: no such circuit: 'payment'\nhint: did you mean 'payments'?\n")
        #expect(breaker.state != .closed)
        #expect(shop.inspect("reset", "pay*", "--exact", "--yes").code == .noSuchCircuit)
    }

    @Test func showsItInJSON() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        let change = #"{"changes":[{"from":"open","name":"a","to":"closed"}],"degraded":null,"dryRun":"#
        #expect(
            shop.inspect("reset", "a", "--json", "--dry-run").output == change
                + "true,\"unreadable\":[],\"version\":1}\n")
        #expect(shop.inspect("reset", "a", "--json").output == change + "false,\"unreadable\":[],\"version\":1}\n")
        #expect(
            shop.inspect("reset", "z*", "--json").output
                == #"{"changes":[],"degraded":null,"dryRun":false,"unreadable":[],"version":1}"# + "\n")
    }

    @Test func doesAllOrNothing() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        let error = #expect(throws: BreakerStoreError.self) {
            try shop.store.perform(.reset, on: [.named("a"), .named("b")])
        }
        #expect(error?.code == .noSuchCircuit)
        #expect(try shop.store.history(of: "a").contains { $0.kind == .reset } == false)
        #expect(throws: BreakerStoreError.self) { try shop.store.perform(.hold(.open, for: .zero), on: [.named("a")]) }
    }

    @Test func takesAHoldThatIsOverForNone() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.store.hold("a", .open, for: .seconds(1))
        clock.advance(by: .seconds(2))
        #expect(shop.inspect("reset", "a").output == "a  closed -> closed\n")
    }
}
