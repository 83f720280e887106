import BreakerTestSupport
import Testing

@testable import breaker_torture

/// What callers of all processes were told is what one circuit would have told that was asked one call after the other.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HistoriesTests {
    @Test func eachHistoryHasAnOrder() async throws { try await Torture.run("histories") }

    /// Callers that do something wrong are found out within fifty histories.
    @Test(arguments: ["stale-answer", "lost-failure", "second-probe", "late-result"])
    func aFaultIsNoticed(fault: String) async throws {
        let said = try await Torture.violations(of: "histories", ["--without", fault, "--seed", "1"])
        #expect(said.contains("VIOLATION no order explains"), "\(said)")
        #expect(!said.contains("the harness itself failed"), "\(said)")
    }
}

/// Small histories, told as one would on paper.
@Suite struct LinearizabilityTests {
    typealias Call = Linearizability<HistoryCircuit, HistoryEvent>.Call

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var verdict: Linearizability<HistoryCircuit, HistoryEvent>.Verdict
        var calls: [Call]
        var rules = HistoryRules()

        /// A history of one failure that trips, unless other rules are given.
        init(
            _ description: String, _ verdict: Linearizability<HistoryCircuit, HistoryEvent>.Verdict,
            _ rules: HistoryRules = HistoryRules(number: 1), _ calls: Call...
        ) {
            self.testDescription = description
            self.verdict = verdict
            self.rules = rules
            self.calls = [call(0, 1, .registered)] + calls
        }
    }

    private static let cases: [Case] = [
        Case(
            "a failure is seen", .explained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 5, .admitted(2, worker: 1, .open(retryAfter: 10_000_000)))),
        Case(
            "a call after a trip runs", .unexplained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 5, .admitted(2, worker: 1, .ran))),
        Case(
            "a call beside a trip runs", .explained, HistoryRules(number: 1), call(2, 5, .recorded(.failure)),
            call(3, 6, .admitted(2, worker: 1, .ran))),
        Case(
            "a call beside a trip runs, though a call before it was refused", .unexplained, HistoryRules(number: 1),
            call(2, 9, .recorded(.failure)), call(3, 4, .admitted(2, worker: 1, .open(retryAfter: nil))),
            call(5, 6, .admitted(3, worker: 2, .ran))),
        Case(
            "a killed caller's failure happened", .explained, HistoryRules(number: 1),
            call(2, 3, .recorded(.failure), isCertain: false),
            call(2, 5, .admitted(2, worker: 1, .open(retryAfter: nil)))),
        Case(
            "a killed caller's failure did not happen", .explained, HistoryRules(number: 1),
            call(2, 3, .recorded(.failure), isCertain: false), call(4, 5, .admitted(2, worker: 1, .ran))),
        Case(
            "a killed caller's failure happens after its end", .unexplained, HistoryRules(number: 1),
            call(2, 3, .recorded(.failure), isCertain: false), call(4, 5, .admitted(2, worker: 1, .ran)),
            call(6, 7, .admitted(3, worker: 1, .open(retryAfter: nil)))),
        Case(
            "a failure that is reported later happens then", .explained, HistoryRules(number: 1),
            call(2, .max, .recorded(.failure), isCertain: false), call(4, 5, .admitted(2, worker: 1, .ran)),
            call(6, 7, .admitted(3, worker: 1, .open(retryAfter: nil)))),
        Case(
            "a failure is counted twice", .unexplained, HistoryRules(number: 3), call(2, 3, .recorded(.failure)),
            call(4, 5, .looked(.init(word: .closed, failures: 2)))),
        Case(
            "a reset forgets the failures", .explained, HistoryRules(number: 3), call(2, 3, .recorded(.failure)),
            call(4, 5, .operated(.reset, found: true)), call(6, 7, .looked(.init(word: .closed)))),
        Case(
            "one of two calls probes", .explained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 9, .admitted(2, worker: 1, .ran), at: [10_000_000]),
            call(4, 9, .admitted(3, worker: 2, .probing), at: [10_000_000])),
        Case(
            "two calls probe", .unexplained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 9, .admitted(2, worker: 1, .ran), at: [10_000_000]),
            call(4, 9, .admitted(3, worker: 2, .ran), at: [10_000_000])),
        Case(
            "two calls probe, as many as may", .explained, HistoryRules(number: 1, probes: 2),
            call(2, 3, .recorded(.failure)), call(4, 9, .admitted(2, worker: 1, .ran), at: [10_000_000]),
            call(4, 9, .admitted(3, worker: 2, .ran), at: [10_000_000])),
        Case(
            "a call probes before the time has come", .unexplained, HistoryRules(number: 1),
            call(2, 3, .recorded(.failure)), call(4, 9, .admitted(2, worker: 1, .ran), at: [9_999_999])),
        Case(
            "a call probes at one of the times that it may have had", .explained, HistoryRules(number: 1),
            call(2, 3, .recorded(.failure)), call(4, 9, .admitted(2, worker: 1, .ran), at: [9_999_999, 10_000_000])),
        Case(
            "a dead prober's slot is free", .explained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 5, .admitted(2, worker: 1, .ran), at: [10_000_000]), call(6, 7, .died(worker: 1)),
            call(8, 9, .admitted(4, worker: 2, .ran), at: [10_000_000])),
        Case(
            "a probe closes the circuit", .explained, HistoryRules(number: 1), call(2, 3, .recorded(.failure)),
            call(4, 5, .admitted(2, worker: 1, .ran), at: [10_000_000]),
            call(6, 7, .reported(of: 2, .success, isKnown: true), at: [10_000_000]),
            call(8, 9, .looked(.init(word: .closed)))),
        Case(
            "a late failure counts", .unexplained, HistoryRules(number: 1), call(2, 3, .admitted(1, worker: 1, .ran)),
            call(4, 5, .operated(.reset, found: true)), call(6, 7, .reported(of: 1, .failure, isKnown: true)),
            call(8, 9, .looked(.init(word: .open, failures: 1, trips: 1)))),
        Case(
            "a late failure changes nothing", .explained, HistoryRules(number: 1),
            call(2, 3, .admitted(1, worker: 1, .ran)), call(4, 5, .operated(.reset, found: true)),
            call(6, 7, .reported(of: 1, .failure, isKnown: true)), call(8, 9, .looked(.init(word: .closed)))),
        Case(
            "a held circuit lets a call through", .unexplained, HistoryRules(number: 1),
            call(2, 3, .operated(.hold(isOpen: true, time: nil), found: true)),
            call(4, 5, .admitted(2, worker: 1, .ran))),
        Case(
            "a hold's time is over", .explained, HistoryRules(number: 1),
            call(2, 3, .operated(.hold(isOpen: true, time: 5), found: true)),
            call(4, 5, .admitted(2, worker: 1, .held(retryAfter: 1)), at: [4]),
            call(6, 7, .admitted(3, worker: 1, .ran), at: [5])),
        Case(
            "a success forgets failures in a row", .explained, HistoryRules(number: 2, isConsecutive: true),
            call(2, 3, .recorded(.failure)), call(4, 5, .recorded(.success)), call(6, 7, .recorded(.failure)),
            call(8, 9, .looked(.init(word: .closed, failures: 1)))),
        Case(
            "a success forgets no failures within a window", .unexplained, HistoryRules(number: 2),
            call(2, 3, .recorded(.failure)), call(4, 5, .recorded(.success)), call(6, 7, .recorded(.failure)),
            call(8, 9, .looked(.init(word: .closed, failures: 1)))),
        Case(
            "a failure that would count nowhere at once counts later", .explained, HistoryRules(number: 1),
            call(2, 3, .operated(.hold(isOpen: true, time: nil), found: true)), call(4, 9, .recorded(.failure)),
            call(5, 10, .operated(.reset, found: true)),
            call(11, 12, .looked(.init(word: .open, failures: 1, trips: 1)))),
        Case(
            "a forgotten circuit is not there", .explained, HistoryRules(number: 1),
            call(2, 3, .operated(.forget, found: true)), call(4, 5, .operated(.reset, found: false)),
            call(6, 7, .looked(.init())), call(8, 9, .admitted(4, worker: 1, .ran)),
            call(10, 11, .looked(.init(word: .closed)))),
    ]

    @Test(arguments: Self.cases) func aHistoryIsJudged(_ history: Case) {
        var search = Linearizability(history.calls, from: HistoryCircuit()) {
            history.rules.states(after: $1, from: $0)
        }
        #expect(search.search() == history.verdict)
    }
}

private func call(
    _ begin: Int64, _ end: Int64, _ what: HistoryEvent.What, at times: [Int64] = [0], isCertain: Bool = true
) -> LinearizabilityTests.Call {
    let event = HistoryEvent(what: what, times: times)
    return .init(begin: begin, end: end, isCertain: isCertain, isRead: event.isRead, event: event)
}

/// Histories of one circuit in a file, each with one thing that can't be.
@Suite struct LegalWalkTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var isLegal: Bool
        var events: [StoreFile.Event]
        var row: StoreFile.Circuit?
    }

    /// A trip, a probe that fails, a probe that succeeds, and a hold: what the other cases change.
    private static let events: [StoreFile.Event] = [
        event("tripped", 10, "closed", "open"), event("probing", 30, "open", "half-open"),
        event("reopened", 31, "half-open", "open"), event("probing", 60, "open", "half-open"),
        event("closed", 61, "half-open", "closed"), event("held", 70, "closed", "held-open", by: "ann"),
    ]

    private static let cases: [Case] = [
        Case(testDescription: "it is legal", isLegal: true, events: events, row: row()),
        Case(
            testDescription: "a trip left no event", isLegal: false, events: Array(events[1...]), row: row()),
        Case(
            testDescription: "two epochs left no event", isLegal: false, events: events,
            row: row { $0.windowGeneration = 9 }),
        Case(
            testDescription: "an event was lost that changes no state", isLegal: false, events: events,
            row: row { $0.kinds["configured"] = 1 }),
        Case(
            testDescription: "a probe comes before the time", isLegal: false, events: changed { $0[1].at = 29 },
            row: row()),
        Case(
            testDescription: "the second stay is longer", isLegal: false, events: changed { $0[3].at = 59 },
            row: row()),
        Case(
            testDescription: "time goes back", isLegal: false, events: changed { $0[4].at = 59 }, row: row()),
        Case(
            testDescription: "it trips while it is open", isLegal: false,
            events: changed { $0[2].kind = "tripped" }, row: row()),
        Case(
            testDescription: "a person closes it as a probe does", isLegal: false, events: changed { $0[4].by = "ann" },
            row: row()),
        Case(
            testDescription: "a hold by nobody's word changes the state", isLegal: false,
            events: changed { $0[5].was = "open" }, row: row()),
        Case(
            testDescription: "the row has another state", isLegal: false, events: events, row: row { $0.state = "open" }
        ),
        Case(testDescription: "the row has another hold", isLegal: false, events: events, row: row { $0.hold = nil }),
        Case(testDescription: "the row has another epoch", isLegal: false, events: events, row: row { $0.epoch = 71 }),
        Case(
            testDescription: "the row is open for longer", isLegal: false, events: [events[0]],
            row: row {
                ($0.state, $0.hold, $0.epoch, $0.windowGeneration) = ("open", nil, 10, 2)
                ($0.openUntil, $0.kinds) = (31, ["tripped": 1])
            }),
        Case(testDescription: "the row is gone", isLegal: false, events: events, row: nil),
        Case(
            testDescription: "the circuit was forgotten", isLegal: true,
            events: events + [event("forgotten", 80, "held-open", nil, by: "ann")], row: nil),
    ]

    @Test(arguments: Self.cases) func aHistoryIsJudged(_ history: Case) {
        let walk = LegalWalk(
            history.events, .init(failures: 3, recovery: 20, multiplier: 1.45, lease: 1_000), isWhole: true)
        let faults = walk.violations + walk.faults(of: history.row)
        #expect(faults.isEmpty == history.isLegal, "\(faults)")
    }

    /// What a file has trimmed is not known: the walk begins with the first event that says all.
    @Test func aHistoryWithoutItsBeginningIsJudged() {
        let walk = LegalWalk(Array(Self.events[2...]), nil, isWhole: false)
        #expect(walk.violations.isEmpty && walk.faults(of: row()).isEmpty)
        #expect(!walk.faults(of: row { $0.state = "half-open" }).isEmpty)
    }

    private static func changed(_ change: (inout [StoreFile.Event]) -> Void) -> [StoreFile.Event] {
        var events = Self.events
        change(&events)
        return events
    }
}

private func event(
    _ kind: String, _ at: Int64, _ was: String?, _ becomes: String?, by who: String? = nil
) -> StoreFile.Event {
    .init(id: at, circuit: "api", kind: kind, at: at, was: was, becomes: becomes, reason: nil, worker: 1, by: who)
}

/// The row to which the history of `LegalWalkTests` leads.
private func row(_ change: (inout StoreFile.Circuit) -> Void = { _ in }) -> StoreFile.Circuit {
    var row = StoreFile.Circuit(
        name: "api", state: "closed", epoch: 70, windowGeneration: 7, openUntil: nil, hold: "open",
        rules: .init(failures: 3, recovery: 20, lease: 1_000),
        kinds: ["tripped": 1, "probing": 2, "reopened": 1, "closed": 1, "held": 1])
    change(&row)
    return row
}
