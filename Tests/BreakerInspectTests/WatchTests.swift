import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite(.timeLimit(.minutes(10))) struct WatchTests {
    private func console(_ steps: (() throws -> Void)...) -> RecordingConsole {
        let console = RecordingConsole()
        console.inPauses = steps.map { step in
            {
                try? step()
                return .isOver
            }
        }
        return console
    }

    @Test func addsALineForEachChange() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.circuit("b", failures: 2)
        let console = self.console(
            {},
            { try shop.circuit("a", failures: 1) }, { clock.advance(by: .seconds(10)) }, { try shop.store.reset("b") },
            { try shop.circuit("new") }, { try shop.store.forget("b") })
        let (code, output, talk) = shop.inspect("list", "--watch", on: console)
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(
            output
                == """
                NAME  STATE   OUTAGE  SINCE  FAILURES  CALLS/S  FAILED-%  RETRY-IN  TRIPS  REFUSED  LAST-ERROR
                b     open       0 s    0 s       2/2        -         -      30 s      1        0  HTTPError
                a     closed       -    0 s       0/2        -         -         -      0        0  -
                a     closed       -    0 s       1/2        -         -         -      0        0  HTTPError
                b     closed       -    0 s       0/2        -         -         -      1        0  -
                new   closed       -    0 s       0/2        -         -         -      0        0  -
                b     forgotten       -      -         -        -         -         -      -        -  -

                """)
        #expect(console.pauses.allSatisfy { $0 == .seconds(1) })
    }

    @Test func showsWhatLeavesTheFilter() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        let console = self.console({ try shop.store.reset("a") }, { try shop.store.reset("a") })
        let output = shop.inspect("list", "--state=open", "--watch=0.5", on: console).output
        #expect(output.split(separator: "\n").count == 3)
        #expect(output.contains("a     closed"))
        #expect(console.pauses.allSatisfy { $0 == .milliseconds(500) })
    }

    @Test func addsALineOfJSONForEachChange() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let console = self.console({ try shop.circuit("a", failures: 2) }, { try shop.store.forget("a") })
        let lines = shop.inspect("list", "--watch", "--json", on: console).output.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(
            lines[0].hasPrefix(#"{"circuits":[{"beneath":null,"#)
                && lines[0].hasSuffix(#"}],"degraded":null,"unreadable":[],"version":1}"#))
        #expect(lines[1].hasPrefix(#"{"circuit":{"beneath":null,"#))
        #expect(lines[1].hasSuffix(#""workers":1},"degraded":null,"event":"changed","version":1}"#))
        #expect(lines[2] == #"{"degraded":null,"event":"forgotten","name":"a","version":1}"#)
    }

    @Test func saysThatNoWorkerLives() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let console = self.console({ shop.store.close() })
        console.outputIsTerminal = true
        let output = shop.inspect("list", "--watch", "--color=never", on: console).output
        #expect(output.matches(of: #/1 circuit: all closed/#).count == 2)
        #expect(output.matches(of: #/1 circuit: all closed, no live worker/#).count == 1)
    }

    @Test func redrawsWhatChangedOnATerminal() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.circuit("b", failures: 2)
        let console = self.console({}, { clock.advance(by: .seconds(1)) }, { try shop.store.forget("b") })
        console.outputIsTerminal = true
        (console.width, console.height) = (80, 24)
        let code = shop.inspect("list", "--watch", "--color=never", on: console).code
        #expect(code == .done)
        let head = "NAME  STATE   OUTAGE  SINCE  FAILURES  RETRY-IN  TRIPS  REFUSED  LAST-ERROR"
        func headline(_ second: Int, _ rest: String) -> String {
            let text = "  00:00:0\(second)Z  \(rest)"
            return "\u{1B}[1;1H\(shop.path.cutInside(to: 80 - text.count))\(text)\u{1B}[K"
        }
        #expect(
            console.output == "<screen>\u{1B}[2J" + headline(0, "2 circuits: 1 open") + "\u{1B}[2;1H\(head)\u{1B}[K"
                + "\u{1B}[3;1Hb     open       0 s    0 s       2/2      30 s      1        0  HTTPError\u{1B}[K"
                + "\u{1B}[4;1Ha     closed       -    0 s       0/2         -      0        0  -\u{1B}[K"
                // The same again is not drawn; time that passes is.
                + headline(1, "2 circuits: 1 open")
                + "\u{1B}[3;1Hb     open       1 s    1 s       2/2      29 s      1        0  HTTPError\u{1B}[K"
                + "\u{1B}[4;1Ha     closed       -    1 s       0/2         -      0        0  -\u{1B}[K"
                + headline(1, "1 circuit: all closed")
                + "\u{1B}[3;1Ha     closed       -    1 s       0/2         -      0        0  -\u{1B}[K"
                + "\u{1B}[4;1H\u{1B}[J</screen>")
    }

    @Test func drawsAnewWhatWasDisturbed() throws {
        let shop = try Shop()
        for number in 0..<9 { try shop.circuit("circuit \(number)") }
        let console = RecordingConsole()
        console.outputIsTerminal = true
        console.height = 4
        console.inPauses = [{ .isOver }, { .disturbed }]
        let output = shop.inspect("list", "--watch", "--color=never", on: console).output
        #expect(output.matches(of: /\x1B\[2J/).count == 2)
        #expect(output.matches(of: #/circuit 0 /#).count == 2)
        #expect(!output.contains("circuit 1"))
        #expect(output.contains("\u{1B}[4;1H(8 more: all closed)\u{1B}[K"))
    }

    /// On a real terminal: nobody misses those that are open and below its last line.
    @Test func showsWhatIsBelowTheFold() throws {
        let shop = try Shop(clock: SystemHostClock())
        for number in 0..<12 { try shop.circuit("open \(number)", failures: 2) }
        try shop.fillWithStates()
        let terminal = try Terminal(
            "exec \"$0\" list --watch=0.05 --color=never", store: shop.path, columns: 80, rows: 10)
        try terminal.read(until: "Z  16 circuits: 13 open, 2 held")
        try terminal.read(until: "\u{1B}[10;1H(9 more: 6 open, 2 held)")
        try shop.store.reset("open 0")
        try terminal.read(until: "Z  16 circuits: 12 open, 2 held")
        try terminal.read(until: "\u{1B}[10;1H(9 more: 5 open, 2 held)")
        try shop.store.hold("open 1", .closed)
        try terminal.read(until: "Z  16 circuits: 11 open, 3 held")
        terminal.type("\u{3}")
        #expect(try terminal.end() == 130)
    }

    /// A row is for a circuit, whatever else is said, on the smallest terminals.
    @Test(arguments: 1...6)
    func neverHasMoreLinesThanTheTerminal(height: Int) throws {
        let shop = try Shop()
        for number in 0..<9 { try shop.circuit("circuit \(number)") }
        let console = RecordingConsole(width: 40, height: height)
        let output = shop.inspect("list", "--watch", "--color=never", on: console).output
        let lines = output.matches(of: #/\x1B\[(\d+);1H/#).compactMap { Int($0.1) }
        #expect(lines == Array(1...height))
    }

    @Test func goesOnWhileACircuitIsGone() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let console = self.console({ try shop.store.forget("a") }, {}, { try shop.circuit("b") }, {})
        let (_, output, talk) = shop.inspect("list", "a", "--watch", on: console)
        #expect(talk == "breaker-inspect: no such circuit: 'a'\n")
        let gone = "a     forgotten       -      -         -        -         -         -      -        -  -\n"
        #expect(output.hasSuffix(gone))
        #expect(shop.inspect("list", "x", "--watch").code == .noSuchCircuit)
    }

    /// While the file stays as it is, nothing is read.
    @Test(arguments: [false, true])
    func readsOnlyWhatChanged(isClosed: Bool) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        if isClosed { shop.store.close() }
        var configuration = shop.configuration
        configuration.access = .readOnly
        let watch = try CircuitStore(path: shop.path, configuration: configuration).watch()
        // What was written just now may be written again without another time stamp.
        func settle() throws {
            for _ in 0..<5_000 where try watch.inspectIfChanged({ _, _ in 0 }) == nil { return }
            Issue.record("the file is read again and again")
        }
        try settle()
        let reads = watch.reads
        for _ in 0..<10 { _ = try watch.inspectIfChanged { _, _ in 0 } }
        #expect(watch.reads == reads)
        for _ in 0..<3 {
            // In a process of its own, as it always is.
            try #require(try Child.shell("\"$0\" reset a", store: shop.path).code == 0)
            let reads = watch.reads
            _ = try watch.inspectIfChanged { _, _ in 0 }
            #expect(watch.reads == reads + 1)
            try settle()
        }
        #expect(isClosed || watch.reads == reads + 3)
    }
}

@Suite(.timeLimit(.minutes(10))) struct FollowTests {
    @Test func goesOnWithWhatHappens() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.circuit("b")
        try shop.store.reset("a", by: "ann")
        let console = RecordingConsole()
        console.inPauses = [
            { .isOver },
            {
                clock.advance(by: .seconds(1))
                try? shop.store.hold("b", .open, by: "bob", reason: "moving")
                try? shop.store.release("b", by: "bob")
                return .isOver
            },
            { .isOver },
        ]
        let (code, output, talk) = shop.inspect("history", "--follow", on: console)
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(
            output == """
                TIME                  CIRCUIT       EVENT     CHANGE               WHO           REASON
                2026-01-01 00:00:00Z  a             reset     closed               ann
                2026-01-01 00:00:01Z  b             held      closed -> held-open  bob           moving
                2026-01-01 00:00:01Z  b             released  held-open -> closed  bob

                """)
    }

    @Test func showsItInJSONAndOfOneCircuitOnly() throws {
        let shop = try Shop()
        try shop.circuit("a")
        try shop.circuit("b")
        let console = RecordingConsole()
        console.inPauses = [
            {
                try? shop.store.reset("b")
                try? shop.store.reset("a", by: "ann")
                return .isOver
            }
        ]
        let lines = shop.inspect("history", "a", "--follow", "--json", on: console).output.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0] == #"{"degraded":null,"events":[],"version":1}"#)
        #expect(lines[1].hasPrefix(#"{"degraded":null,"event":{"at":"#) && lines[1].hasSuffix(#"},"version":1}"#))
        #expect(shop.inspect("history", "nobody", "--follow").code == .noSuchCircuit)
    }

    /// The heading stands above the first line, whenever that comes.
    @Test func beginsWithNothing() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let console = RecordingConsole()
        console.inPauses = [
            {
                try? shop.store.reset("a")
                return .isOver
            }
        ]
        let (_, output, talk) = shop.inspect("history", "--follow", on: console)
        #expect(talk.isEmpty)
        #expect(output.hasPrefix("TIME") && output.split(separator: "\n").count == 2)
    }
}
