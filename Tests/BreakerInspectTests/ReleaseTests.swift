import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct ReleaseTests {
    @Test func goesOnInTheStateBeneath() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a", failures: 2)
        try shop.store.hold("a", .closed, by: "bob")
        #expect(breaker.isCallPermitted)
        let dry = shop.inspect("release", "a", "--dry-run")
        #expect(dry.output == "a  held-closed -> open\n")
        #expect(breaker.isCallPermitted)
        let (code, output, talk) = shop.inspect("release", "a", "--reason", "enough")
        #expect(code == .done)
        #expect(output == "a  held-closed -> open\n")
        #expect(talk.isEmpty)
        #expect(!breaker.isCallPermitted)
        let event = try #require(try shop.store.history(of: "a").first)
        #expect(event.kind == .released)
        #expect(event.by == "ann")
        #expect(event.reason == "enough")
    }

    @Test func asksAboutThoseThatAreHeld() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let console = RecordingConsole(answering: ["y"])
        let (code, output, talk) = shop.inspect("release", "--all", on: console)
        #expect(code == .done)
        #expect(
            talk == """
                This would release 2 circuits:
                  d held open    held-open -> closed
                  e held closed  held-closed -> closed
                Go on with 2 circuits? [y/N] 
                """)
        #expect(output == "d held open    held-open -> closed\ne held closed  held-closed -> closed\n")
        #expect(try shop.store.history(of: "b open").contains { $0.kind == .released } == false)
    }

    @Test func showsOnlyWhatItChanged() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        #expect(shop.inspect("release", "*", "--yes").output.split(separator: "\n").count == 2)
        let (code, output, talk) = shop.inspect("release", "*")
        #expect(code == .done)
        #expect(output.isEmpty)
        #expect(talk == "nothing there is held\n")
        #expect(
            shop.inspect("release", "a closed", "--json").output
                == #"{"changes":[],"degraded":null,"dryRun":false,"unreadable":[],"version":1}"# + "\n"
        )
        #expect(shop.inspect("release", "z*").talk == "no circuit matches 'z*'\n")
        #expect(shop.inspect("release", "nobody").code == .noSuchCircuit)
        #expect(shop.inspect("release").code == .usage)
    }

    @Test func takesAHoldThatIsOverForNone() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.store.hold("a", .open, for: .seconds(1))
        clock.advance(by: .seconds(2))
        #expect(shop.inspect("release", "a").talk == "nothing there is held\n")
    }
}
