import BreakerStore
import Testing

@testable import breaker_inspect

@Suite struct HoldTests {
    @Test func holdsForATimeWithWhoAndWhy() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a")
        let result = shop.inspect("hold", "open", "a", "--for", "2h", "--reason", "moving", "--as", "bob")
        #expect(result.code == .done)
        #expect(result.output == "a  closed -> held-open\n")
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
        let console = RecordingConsole()
        console.canAsk = true
        console.answers = ["y"]
        let result = shop.inspect("hold", "closed", "--all", on: console)
        #expect(result.talk == "This would hold closed 1 circuit:\n  a  open -> held-closed\nGo on? [y/N] ")
        #expect(result.output == "a  open -> held-closed\n")
        #expect(breaker.isCallPermitted)
        #expect(shop.inspect("hold", "open", "*").code == .usage)
    }

    @Test func suggestsTheState() {
        let console = RecordingConsole()
        #expect(run(arguments: ["hold", "opne", "a"], environment: [:], console: console) == .usage)
        #expect(console.talk.hasSuffix("hint: did you mean 'open'?\n"))
    }

    @Test(arguments: [["a"], ["opne", "a"], ["open"], ["open", "a", "--for", "x"], ["open", "a", "--all"], []])
    func refusesWhatItCannotRead(operands: [String]) {
        let console = RecordingConsole()
        #expect(run(arguments: ["hold"] + operands, environment: [:], console: console) == .usage)
        #expect(console.talk.split(separator: "\n").count == 2)
    }
}
