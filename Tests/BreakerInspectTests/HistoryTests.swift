import BreakerStore
import Testing

@testable import breaker_inspect

@Suite struct HistoryTests {
    private func eventful() throws -> Shop {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a", failures: 2)
        clock.advance(by: .seconds(60))
        try shop.circuit("b")
        try shop.store.reset("a", by: "ann\u{7}", reason: "provider is back")
        clock.advance(by: .seconds(60))
        try shop.store.hold("b", .open, by: "bob")
        return shop
    }

    @Test func tellsTheOldestFirst() throws {
        let shop = try self.eventful()
        let (code, output, talk) = shop.inspect("history", "--since", "90s")
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(
            output == """
                TIME                  CIRCUIT  EVENT  CHANGE               WHO       REASON
                2026-01-01 00:01:00Z  a        reset  open -> closed       ann\\u{7}  provider is back
                2026-01-01 00:02:00Z  b        held   closed -> held-open  bob

                """)
        let one = shop.inspect("history", "a").output
        #expect(!one.contains("CIRCUIT"))
        #expect(one.contains("tripped") && one.contains("reset") && !one.contains("held"))
    }

    /// The kind is a word of any program that writes to the file.
    @Test func showsNoControlCharactersOfAKind() throws {
        let shop = try self.eventful()
        shop.store.close()
        try Shop.sqlite(shop.path, "UPDATE event SET kind = 'he' || char(0, 27) || '[2J', becomes = 'held-open'")
        for arguments in [["history"], ["show", "b"]] {
            let output = shop.inspect(arguments: arguments).output
            #expect(!output.contains { $0 == "\u{0}" || $0 == "\u{1B}" })
        }
        #expect(shop.inspect("history").output.contains("he\\u{0}\\u{1B}[2J"))
    }

    @Test func isCutToTheNewest() throws {
        let shop = try self.eventful()
        #expect(shop.inspect("history", "--limit", "1").output.split(separator: "\n").count == 2)
        #expect(shop.inspect("history", "--limit", "1").output.contains("held"))
        #expect(shop.inspect("history", "--since", "1ms", "a").talk == "nothing happened\n")
    }

    @Test func tellsItInJSON() throws {
        let shop = try self.eventful()
        let output = shop.inspect("history", "--limit", "1", "--json").output
        #expect(output.hasPrefix(#"{"events":[{"at":"2026-01-01T00:02:00.000Z","atMs":1767225720000,"by":"bob","#))
        #expect(output.contains(#""circuit":"b","from":"closed","id":"#))
        #expect(output.contains(#""kind":"held","#) && output.contains(#""to":"held-open","#))
        #expect(output.hasSuffix(#"],"version":1}"# + "\n"))
    }

    @Test func knowsForgottenCircuitsButNoInventedOnes() throws {
        let shop = try self.eventful()
        try shop.store.forget("a")
        #expect(shop.inspect("history", "a").output.contains("forgotten"))
        #expect(shop.inspect("history", "nobody").code == .noSuchCircuit)
    }

    @Test(arguments: [
        ["--limit", "0"], ["--limit", "x"], ["--since", "1"], ["--since", "h"], ["--since", "-1h"], ["--since", "0s"],
        ["--since", "1e9d"], ["--since", "infs"], ["a", "b"],
    ])
    func refusesWhatItCannotRead(operands: [String]) {
        let console = RecordingConsole()
        let code = run(arguments: ["history"] + operands, environment: [:], console: console)
        #expect(code == .usage)
        #expect(console.talk.split(separator: "\n").count == 2)
    }

    @Test(arguments: [("90s", 90_000), ("1.5h", 5_400_000), ("2d", 172_800_000), ("20ms", 20), ("5m", 300_000)])
    func readsDurations(text: String, milliseconds: Int64) throws {
        #expect(try DurationArgument.parse(text, for: HistoryVerb.since) == .milliseconds(milliseconds))
    }
}
