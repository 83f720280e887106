import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct HoldTests {
    @Test func holdsForATimeWithWhoAndWhy() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a")
        let result = shop.inspect("hold", "open", "a", "--for", "2h", "--reason", "moving", "--as", "bob")
        #expect(result.code == .done)
        #expect(result.output == "a  closed -> held-open until 2026-01-01 02:00:00Z\n")
        #expect(!breaker.isCallPermitted)
        let hold = try #require(try shop.store.circuit(named: "a")?.hold)
        #expect(hold.by == "bob")
        #expect(hold.reason == "moving")
        clock.advance(by: .seconds(7_200))
        #expect(breaker.isCallPermitted)
    }

    @Test func holdsClosedAndAsksAboutPatterns() throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a", failures: 2)
        let console = RecordingConsole(answering: ["y"])
        let result = shop.inspect("hold", "closed", "--all", on: console)
        #expect(
            result.talk
                == "This would hold closed 1 circuit:\n  a  open -> held-closed until released\nGo on? [y/N] ")
        #expect(result.output == "a  open -> held-closed until released\n")
        #expect(breaker.isCallPermitted)
        #expect(shop.inspect("hold", "open", "*").code == .usage)
    }

    /// The time counts from the answer: the question names the end of a hold that begins now.
    @Test func saysWhenItEnds() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        let console = RecordingConsole(answering: ["y"])
        console.whileAsked = { clock.advance(by: .seconds(10)) }
        let result = shop.inspect("hold", "open", "*", "--for", "90s", on: console)
        #expect(result.talk.contains("\n  a  closed -> held-open until 2026-01-01 00:01:30Z\n"))
        #expect(result.output == "a  closed -> held-open until 2026-01-01 00:01:40Z\n")
        let json = shop.inspect("hold", "closed", "a", "--for", "1m", "--json").output
        #expect(json.contains(#""to":"held-closed","until":"2026-01-01T00:01:10.000Z","untilMs":1767225670000}"#))
        let endless = shop.inspect("hold", "open", "a", "--json", "--dry-run").output
        #expect(endless.contains(#""to":"held-open","until":null,"untilMs":null}"#))
    }
}
