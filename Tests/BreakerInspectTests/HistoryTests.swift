import BreakerStore
import BreakerTool
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

    @Test func showsTheOldestFirst() throws {
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

    /// The end of a hold is recorded late, by a process that has nothing to do with it.
    @Test(arguments: [(60_900, ""), (73_000, ": it ended 13 s before")])
    func saysHowLongAgoAHoldWasOver(milliseconds: Int, late: String) throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a")
        try shop.store.hold("a", .open, for: .seconds(60), by: "ann")
        clock.advance(by: .milliseconds(milliseconds))
        breaker.recordFailure(Boom())
        let output = shop.inspect("history", "a").output
        let row = try #require(output.split(separator: "\n").last { $0.contains(" released ") }, "\(output)")
        #expect(row.contains(#/ released +held-open -> closed +- +its time is over/#) && row.hasSuffix("over\(late)"))
    }

    /// Circuits whose probes fail at one time, each after its own; and one whose probe succeeds.
    @Test func showsAFailedProbeInOneLine() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breakers = try ["a", "b", "c"].map { try shop.circuit($0, failures: 2) }
        clock.advance(by: .seconds(30))
        let probes: [CallPermit] = try breakers.map { try $0.admit() }
        for (probe, end) in zip(probes, [false, false, true]) {
            clock.advance(by: .milliseconds(500))
            if end { probe.succeed() } else { probe.fail(Boom()) }
        }
        let lines = shop.inspect("history").output.split(separator: "\n").dropFirst(4)
        let expected = [
            #/^2026-01-01 00:00:30Z  c +probing +open -> half-open +\S+\[\d+\]$/#,
            #/^2026-01-01 00:00:30Z  a +probe failed +open +\S+\[\d+\] +after 500 ms: HTTPError$/#,
            #/^2026-01-01 00:00:31Z  b +probe failed +open +\S+\[\d+\] +after 1 s: HTTPError$/#,
            #/^2026-01-01 00:00:31Z  c +closed +half-open -> closed +\S+\[\d+\]$/#,
        ]
        #expect(lines.count == expected.count)
        for (line, pattern) in zip(lines, expected) { #expect(line.contains(pattern), "\(line)") }
        // A limit counts lines.
        let newest = shop.inspect("history", "a", "--limit", "1").output.split(separator: "\n")
        #expect(newest.last?.contains(#/probe failed +open .* after 500 ms: HTTPError$/#) == true, "\(newest)")
        // Scripts get both.
        let kinds = shop.inspect("history", "a", "--json").output.matches(of: #/"kind":"(\w+)"/#).map { $0.1 }
        #expect(kinds == ["tripped", "probing", "reopened"])
    }

    @Test func goesOnBehindAnEvent() throws {
        let shop = try self.eventful()
        func ids(_ arguments: String...) -> [Int] {
            let output = shop.inspect(arguments: ["history", "--json"] + arguments).output
            return output.matches(of: #/"id":(\d+)/#).compactMap { Int($0.1) }
        }
        let all = ids()
        try #require(all.count == 3)
        #expect(ids("--after", "0") == all)
        #expect(ids("--after", "\(all[0])") == Array(all.dropFirst()))
        // The oldest of what came later, so that none is skipped.
        #expect(ids("--after", "\(all[0])", "--limit", "1") == [all[1]])
        #expect(ids("a", "--after", "\(all[0])") == [all[1]])
        #expect(ids("a", "--after", "\(all[2])").isEmpty)
        #expect(shop.inspect("history", "a", "--after", "\(all[2])").talk == "nothing happened\n")
        try shop.store.forget("a")
        #expect(shop.inspect("history", "a", "--after", "\(all[2] + 1)").code == .done)
        #expect(shop.inspect("history", "nobody", "--after", "0").code == .noSuchCircuit)
        let console = RecordingConsole()
        let followed = shop.inspect("history", "a", "--follow", "--json", "--after", "\(all[0])", on: console).output
        #expect(followed.matches(of: #/"id":(\d+)/#).count == 2)
    }

    /// Another file has taken the store's place since the event was told.
    @Test func beginsWithTheOldestOfAFileThatHasNotComeSoFar() throws {
        let shop = try self.eventful()
        let all = shop.inspect("history").output
        #expect(shop.inspect("history", "--after", "5000").output == all)
        let one = shop.inspect("history", "a").output
        #expect(shop.inspect("history", "a", "--after", "5000").output == one)
        let console = RecordingConsole()
        let followed = shop.inspect("history", "--follow", "--json", "--after", "5000", on: console).output
        #expect(followed.matches(of: #/"id":(\d+)/#).count == 3)
    }

    private static func moment(_ line: Substring) -> String {
        "\(line.prefix(20))\(line.contains("probe failed") && line.contains("after 0 s") ? " with its time" : "")"
    }

    /// A failed probe is one line of two events.
    @Test func countsLinesForPeople() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("a", failures: 2)
        for _ in 0..<3 {
            clock.advance(by: .seconds(30))
            (try breaker.admit() as CallPermit).fail(Boom())
        }
        let all = shop.inspect("history").output.split(separator: "\n").dropFirst()
        #expect(all.count == 4)
        for limit in 1...4 {
            let newest = shop.inspect("history", "--limit", "\(limit)").output.split(separator: "\n").dropFirst()
            // The columns are as wide as those lines need that are shown.
            #expect(newest.map(Self.moment) == all.suffix(limit).map(Self.moment))
            let oldest = shop.inspect("history", "--after", "0", "--limit", "\(limit)").output
            #expect(oldest.split(separator: "\n").dropFirst().map(Self.moment) == all.prefix(limit).map(Self.moment))
        }
        #expect(shop.inspect("history", "--limit", "\(Int.max)").output.split(separator: "\n").count == 5)
        #expect(shop.inspect("show", "a", "--limit", "\(Int.max)").output.contains("TIME"))
        let kinds = shop.inspect("history", "--limit", "3", "--json").output.matches(of: #/"kind":"(\w+)"/#)
        #expect(kinds.map { $0.1 } == ["reopened", "probing", "reopened"])
    }

    @Test func showsItInJSON() throws {
        let shop = try self.eventful()
        let output = shop.inspect("history", "--limit", "1", "--json").output
        #expect(
            output.hasPrefix(
                #"{"degraded":null,"events":[{"at":"2026-01-01T00:02:00.000Z","atMs":1767225720000,"by":"bob","#))
        #expect(output.contains(#""circuit":"b","failed":0,"from":"closed","id":"#))
        #expect(output.contains(#""kind":"held","#) && output.contains(#""to":"held-open","#))
        #expect(output.hasSuffix(#"],"version":1}"# + "\n"))
    }

    @Test func knowsForgottenCircuitsButNoInventedOnes() throws {
        let shop = try self.eventful()
        try shop.store.forget("a")
        #expect(shop.inspect("history", "a").output.contains("forgotten"))
        #expect(shop.inspect("history", "nobody").code == .noSuchCircuit)
    }

    @Test(arguments: [("90s", 90_000), ("1.5h", 5_400_000), ("2d", 172_800_000), ("20ms", 20), ("5m", 300_000)])
    func readsDurations(text: String, milliseconds: Int64) throws {
        #expect(try DurationArgument.parse(text, for: HistoryVerb.since) == .milliseconds(milliseconds))
    }
}
