import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite struct ListTests {
    @Test func showsThoseThatRefuseFirst() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.fillWithStates()
        clock.advance(by: .seconds(10))
        let (code, output, talk) = shop.inspect("list")
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(
            output == """
                NAME           STATE        OUTAGE  SINCE  FAILURES  CALLS/S  FAILED-%  RETRY-IN  TRIPS  REFUSED  LAST-ERROR
                b open         open           10 s   10 s       2/2        -         -      20 s      1        0  connection refused by 10.0.0.1:443
                d held open    held-open         -   10 s       0/2        -         -   120 min      0        0  held by bob for 10 s, until 2026-01-01 02:00:00Z: moving
                e held closed  held-closed       -   10 s       0/2        -         -         -      0        0  held by bob for 10 s
                a closed       closed            -   10 s       1/2        -         -         -      0        0  503 from upstream

                """)
    }

    /// The first rows, which are those that matter, have left the screen.
    @Test func sumsUpWhatIsLongerThanTheScreen() throws {
        let shop = try Shop()
        for number in 0..<3 { try shop.circuit("c\(number)", failures: number) }
        let console = RecordingConsole(width: 80, height: 5)
        #expect(!shop.inspect("list", "--color=never", on: console).output.contains("circuits"))
        console.height = 4
        #expect(shop.inspect("list", "--all", on: console).output.hasSuffix("\n3 circuits: 1 open (above)\n"))
        #expect(!shop.inspect("list").output.contains("circuits"))
    }

    /// A circuit that flaps is closed most of the time.
    @Test func keepsClosedCircuitsThatFlap() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        for number in 0..<30 { try shop.circuit("c\(number)") }
        let breaker = try shop.circuit("flaps", recovery: 10)
        for _ in 0..<3 {
            for _ in 0..<2 { try? breaker.run { throw Boom() } }
            clock.advance(by: .seconds(10))
            try breaker.run {}
        }
        let console = RecordingConsole(width: 80, height: 24)
        let lines = shop.inspect("list", "--color=never", on: console).output.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].hasPrefix("flaps  closed "), "\(lines)")
        #expect(lines.last == "30 closed: --all lists them")
    }

    /// The closed circuits need no action, and would push the others off the screen.
    @Test func leavesClosedCircuitsOutThatHaveNoRoom() throws {
        let shop = try Shop()
        for number in 0..<30 { try shop.circuit("c\(number)", failures: number < 3 ? 2 : 0) }
        func lines(_ arguments: String..., height: Int?) -> [String] {
            let console = RecordingConsole(width: 80, height: height)
            let output = shop.inspect(arguments: ["list", "--color=never"] + arguments, on: console).output
            return output.split(separator: "\n").map { String($0) }
        }
        let cut = lines(height: 24)
        #expect(cut.count == 5 && cut.last == "27 closed: --all lists them", "\(cut)")
        #expect(cut.dropFirst().prefix(3).allSatisfy { $0.contains("  open  ") })
        // A heading, 30 rows and the prompt.
        #expect(lines(height: 32).count == 31)
        #expect(lines(height: 31).last == "27 closed: --all lists them")
        // Those that are not closed are all shown, however many there are.
        let low = lines(height: 4)
        #expect(low.suffix(2) == ["30 circuits: 3 open (above)", "27 closed: --all lists them"] && low.count == 6)
        #expect(lines("c29", "c28", height: 2) == ["2 closed: --all lists them"])
        for all in [lines("--all", height: 24), lines("--state=closed,open", height: 24)] {
            #expect(all.count == 32 && all.last == "30 circuits: 3 open (above)")
        }
        #expect(lines(height: nil).count == 31)
        #expect(shop.inspect("list").output.split(separator: "\n").count == 31)
    }

    @Test func showsADueProbeAndAHalfOpenCircuit() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let half = try shop.circuit("half", failures: 2)
        clock.advance(by: .seconds(30))
        #expect(
            shop.inspect("list").output.contains(
                "half  due      30 s   30 s       2/2        -         -       now      1        0  HTTPError"))
        let permit: CallPermit = try half.admit()
        #expect(shop.inspect("list").output.contains("half  half-open"))
        #expect(shop.inspect("list", "--state=half-open", "--json").output.contains(#""probeCount":1"#))
        permit.discard()
    }

    @Test func isExactlyThisJSON() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("b open", group: "shop", failures: 2, error: "bad\u{1B}[2J")
        clock.advance(by: .seconds(10))
        let (code, output, talk) = shop.inspect("list", "--json")
        #expect(code == .done)
        #expect(talk.isEmpty)
        let epoch = try #require(try shop.store.circuit(named: "b open")).epoch
        #expect(
            output
                == #"{"circuits":[{"beneath":null,"epoch":\#(epoch),"failureLimit":2,"failures":2,"failuresAtTrip":2,"#
                + #""group":"shop","hold":null,"hurt":{"failed":2,"refused":0},"isDue":false,"#
                + #""lastError":"bad\u001b[2J","mode":"enforcing","name":"b open","probeCount":0,"recent":null,"#
                + #""refusals":0,"retryAt":"2026-01-01T00:00:30.000Z","retryAtMs":1767225630000,"retryInMs":20000,"#
                + #""since":"2026-01-01T00:00:00.000Z","sinceMs":1767225600000,"state":"open","#
                + #""trippedSince":"2026-01-01T00:00:00.000Z","trippedSinceMs":1767225600000,"tripsInARow":1,"tripsWithinHour":1,"#
                + #""workers":1}],"degraded":null,"unreadable":[],"version":1}"# + "\n")
    }

    @Test func showsAHoldInJSON() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let (_, output, _) = shop.inspect("list", "d held open", "--json")
        #expect(
            output.contains(
                #""hold":{"by":"bob","reason":"moving","since":"2026-01-01T00:00:00.000Z","sinceMs":1767225600000,"#
                    + #""state":"open","until":"2026-01-01T02:00:00.000Z","untilMs":1767232800000}"#))
    }

    @Test(arguments: [
        (["--state", "open"], ["b open"]), (["--state=held"], ["d held open", "e held closed"]),
        (["--state=closed,open"], ["b open", "a closed"]), (["--state=held-open"], ["d held open"]),
        (["--group", "shop"], ["b open", "a closed"]), (["--group", "Shop"], []),
        (["*open"], ["b open", "d held open"]), (["[ab]*"], ["b open", "a closed"]), (["? open"], ["b open"]),
        (["a closed", "b*", "a*"], ["b open", "a closed"]), (["z*"], []),
    ])
    func filters(arguments: [String], names: [String]) throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let (code, output, _) = shop.inspect(arguments: ["list", "--json"] + arguments)
        #expect(code == .done)
        let found = output.matches(of: /"name":"([^"]*)"/).map { String($0.1) }
        #expect(found == names)
    }

    @Test func saysThatNothingWasFound() throws {
        let shop = try Shop()
        #expect(shop.inspect("list").talk == "the store has no circuits\n")
        #expect(
            shop.inspect("list", "--json").output
                == #"{"circuits":[],"degraded":null,"unreadable":[],"version":1}"# + "\n")
        try shop.circuit("payments")
        #expect(shop.inspect("list", "z*", "[y]").talk == "no circuit matches 'z*' or '[y]'\n")
        #expect(shop.inspect("list", "--state=open").talk == "no circuit has that state and group\n")
        let (code, output, talk) = shop.inspect("list", "paymnts")
        #expect(code == .noSuchCircuit)
        #expect(output.isEmpty)
        #expect(talk == "breaker-inspect: no such circuit: 'paymnts'\nhint: did you mean 'payments'?\n")
        #expect(shop.inspect("list", "p*", "--exact").code == .noSuchCircuit)
    }

    @Test func takesAnArgumentThatIsANameForThatCircuit() throws {
        let shop = try Shop()
        for name in ["a*", "ab", "a[b]"] { try shop.circuit(name) }
        #expect(shop.inspect("list", "a*").output.split(separator: "\n").count == 2)
        #expect(shop.inspect("list", "a[b]").output.contains("a[b]"))
        #expect(shop.inspect("list", "a?").output.split(separator: "\n").count == 3)
    }

    @Test func tellsNamesApartByTheirBytes() throws {
        let shop = try Shop()
        for name in ["\u{E9}", "e\u{301}"] { try shop.circuit(name) }
        #expect(shop.inspect("list", "\u{E9}", "e\u{301}").output.split(separator: "\n").count == 3)
    }
}
