import BreakerStore
import BreakerStoreJSON
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite(.timeLimit(.minutes(10))) struct EventTableTests {
    private static let plain = Style(isColored: false)

    /// The first event in a row of days is at 2026-11-27 05:03:31Z.
    private static func event(
        _ circuit: String?, _ kind: CircuitEvent.Kind, after seconds: Double = 0, from: String? = nil,
        to: String? = nil, reason: String? = nil, worker: String? = "shop-worker", pid: Int32? = 18_980,
        subject: String? = nil
    ) -> CircuitEvent {
        CircuitEvent(
            id: 1, circuit: circuit, kind: kind, at: Date(timeIntervalSince1970: 1_795_755_811 + seconds), from: from,
            to: to, reason: reason, worker: worker, pid: pid, subject: subject)
    }

    private static func text(_ events: [CircuitEvent], width: Int?, isBrief: Bool = false) -> String {
        var table = EventTable(
            EventLine.all(events), namingCircuits: !isBrief, isBrief: isBrief, onTerminal: width != nil)
        var text = ""
        table.print(width: width, Self.plain) { text += $0 }
        return text
    }

    private static let twoDays = [
        event(nil, .degraded, reason: "the disk is full"),
        event(
            "payments", .tripped, after: 2, from: "closed", to: "open",
            reason: "3 failures within 60 s, the last: connection refused"),
        event("payments", .probing, after: 86_400, from: "open", to: "half-open"),
    ]

    @Test func namesEachDayOnceOnATerminal() {
        #expect(
            Self.text(Self.twoDays, width: 80) == """
                2026-11-27
                TIME       CIRCUIT      EVENT     CHANGE             WHO
                05:03:31Z  (the store)  degraded  -                  shop-worker[18980]
                    the disk is full
                05:03:33Z  payments     tripped   closed -> open     shop-worker[18980]
                    3 failures within 60 s, the last: connection refused
                2026-11-28
                05:03:31Z  payments     probing   open -> half-open  shop-worker[18980]

                """)
    }

    /// A short reason has room where a long one goes below its row; neither is cut.
    @Test func writesReasonsBesideTheirRowsWhereTheyFit() {
        let lines = Self.text(Self.twoDays, width: 100).split(separator: "\n")
        #expect(lines[1].hasSuffix("WHO                 REASON"))
        #expect(lines[2].hasSuffix("shop-worker[18980]  the disk is full"))
        #expect(lines[3].hasSuffix("shop-worker[18980]"))
        #expect(lines[4] == "    3 failures within 60 s, the last: connection refused")
    }

    /// What scripts read: each line has its date, and nothing is below it.
    @Test func keepsADateInEachLineWithoutATerminal() {
        let lines = Self.text(Self.twoDays, width: nil).split(separator: "\n")
        #expect(lines.map { $0.prefix(4) } == ["TIME", "2026", "2026", "2026"])
        #expect(lines[1].hasPrefix("2026-11-27 05:03:31Z  (the store)"))
    }

    @Test(arguments: [40, 60, 79, 80, 81, 100, 132, 200], [false, true])
    func cutsNoNameAndNoPid(width: Int, isBrief: Bool) {
        let names = ["w", "shop-worker-7f9c4d-x2x9z", String(repeating: "long-name-", count: 9)]
        let events = names.enumerated().map { index, name in
            Self.event(
                "\(name)-circuit", .tripped, after: Double(index), from: "closed", to: "open",
                reason: "connection refused", worker: name, pid: 4_194_304)
        }
        let text = Self.text(events, width: width, isBrief: isBrief)
        for name in names {
            #expect(text.contains("\(name)[4194304]"), "\(text)")
            if !isBrief { #expect(text.contains("\(name)-circuit"), "\(text)") }
        }
        let wide = text.split(separator: "\n").filter { String($0).displayWidth > width && !$0.contains("long-name") }
        #expect(wide.isEmpty, "\(text)")
        #expect(!text.contains("…"), "\(text)")
        #expect(text.matches(of: /connection refused/).count == 3)
    }

    /// In `show`, where the other events want to be seen, too.
    @Test func cutsAReasonToOneLineWhereItMustBeBrief() {
        let event = Self.event("a", .reopened, to: "open", reason: String(repeating: "long ", count: 40))
        let lines = Self.text([event], width: 80, isBrief: true).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[2] == "05:03:31Z  probe failed  shop-worker[18980]")
        #expect(lines[3].hasPrefix("    long long ") && lines[3].hasSuffix("…") && String(lines[3]).displayWidth == 80)
    }

    /// One line only where the process that began to probe is the one whose probe failed.
    @Test(arguments: [
        ("a", 1, "a", 1, false, true), ("a", 1, "a", 2, false, false), ("a", 1, "b", 1, false, false),
        (Tool.name, 1, Tool.name, 2, false, true), (Tool.name, 1, Tool.name, 2, true, false),
    ]) func joinsTheEventsOfOneProbe(
        prober: String, pid: Int32, other: String, otherPid: Int32, hasDied: Bool, areOne: Bool
    ) {
        let died = Self.event("a", .proberDied, after: 2, to: "half-open", worker: other, pid: otherPid)
        let lines = EventLine.all(
            [Self.event("a", .probing, after: 1, from: "open", to: "half-open", worker: prober, pid: pid)]
                + (hasDied ? [died] : [])
                + [Self.event("a", .reopened, after: 3, from: "half-open", to: "open", worker: other, pid: otherPid)])
        #expect(lines.count == (areOne ? 1 : hasDied ? 3 : 2))
        #expect(lines.last?.reason == (areOne ? "after 2 s" : ""))
    }

    @Test(arguments: [(CircuitEvent.Kind.probeExpired, "probe expired"), (.proberDied, "prober died")])
    func namesTheProcessThatLostItsSlot(kind: CircuitEvent.Kind, word: String) {
        let reason = "did not report within 60 s"
        func line(worker: String?, subject: String?) -> EventLine {
            EventLine(Self.event("a", kind, to: "half-open", reason: reason, worker: worker, subject: subject))
        }
        let lost = line(worker: "shop-worker", subject: "shop-worker[23611]")
        #expect(lost.what == word)
        #expect(lost.who == "shop-worker[23611]")
        #expect(lost.reason == "\(reason); shop-worker[18980] probes now")
        // It reported too late by itself; or the tool reported for it, which is gone.
        #expect(line(worker: "shop-worker", subject: "shop-worker[18980]").reason == reason)
        #expect(line(worker: Tool.name, subject: "shop-worker[23611]").reason == reason)
        // Who lost it is not in the file.
        #expect(line(worker: "shop-worker", subject: nil).who == "shop-worker[18980]")
        #expect(line(worker: "shop-worker", subject: nil).reason == reason)
    }

    /// A probe that hangs, and another worker that takes its slot.
    @Test(.ownDirectory) func namesWhoHungAndWhoProbesNow() async throws {
        let here = try Workplace.here
        let hung = try await here.openWorker()
        let next = try await here.openWorker()
        for worker in [hung, next] { try await worker.ask("breaker users failures=1 recovery=1") }
        try await hung.ask("fail users")
        here.clock.advance(by: .seconds(2))
        try await hung.ask("admit users")
        here.clock.advance(by: .seconds(31))
        try await next.ask("admit users")
        let console = RecordingConsole(width: 80)
        _ = run(
            arguments: ["history", "users", "--color=never"], environment: ["BREAKER_STORE": here.store],
            console: console, clock: here.clock)
        let lines = console.output.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("probe expired") }, "\(console.output)")
        #expect(lines[place].hasSuffix("breaker-worker[\(hung.pid)]"), "\(lines)")
        let reason = "    did not report within 30 s; breaker-worker[\(next.pid)] probes now"
        #expect(lines[place + 1] == reason, "\(lines)")
    }

    @Test func namesADayWhenItBeginsWhileEventsAreFollowed() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("a")
        try shop.store.reset("a", by: "ann")
        let console = RecordingConsole(width: 80)
        console.inPauses = [
            {
                clock.advance(by: .seconds(86_399))
                try? shop.store.reset("a", by: "bob")
                clock.advance(by: .seconds(1))
                try? shop.store.reset("a", by: "cid", reason: String(repeating: "long ", count: 20))
                return .isOver
            }
        ]
        let output = shop.inspect("history", "--follow", "--color=never", on: console).output
        #expect(
            output == """
                2026-01-01
                TIME       CIRCUIT       EVENT     CHANGE               WHO           REASON
                00:00:00Z  a             reset     closed               ann
                23:59:59Z  a             reset     closed               bob
                2026-01-02
                00:00:00Z  a             reset     closed               cid
                    long long long long long long long long long long long long long long long
                    long long long long long\u{20}

                """)
    }
}
