import Testing

@testable import BreakerStore

/// What an event does in a situation; what it does not name stays as it was.
struct Effect {
    /// Without the token and the epoch, which are the same rule for all.
    enum Reply: Equatable {
        case proceed, probe, uncounted
        case refuse(RefusalCause, until: Int64?)
        case report(Circuit.ReportAction)
        case asked(Circuit.Answer, failures: Int)
        case released(Bool)
        case nothing
    }
    enum Hold: Equatable {
        case none
        case held(HoldState, until: Int64?)
    }

    var reply: Reply
    var state: Circuit.State? = nil
    var failures: Int? = nil
    var trips: Int? = nil
    var probes: [Int64]? = nil
    var hold: Hold? = nil
    var rules: Rules? = nil
    /// Without the end of a hold whose time is over.
    var history: [CircuitEvent.Kind] = []

    static let nothing = Effect(reply: .nothing)
    static let stale = Effect(reply: .report(.stale))
    static let unchanged = Effect(reply: .report(.unchanged))
}

/// One line of the table: the same effect in several situations.
struct Line {
    var happenings: [Happening]
    var situations: [Situation]
    var effect: Effect

    init(_ happenings: Happening..., in situations: [Situation], _ effect: Effect) {
        self.happenings = happenings
        self.situations = situations
        self.effect = effect
    }
}

/// One pair of the table.
struct Pair: CustomTestStringConvertible {
    var happening: Happening
    var situation: Situation
    var effect: Effect

    var testDescription: String { "\(self.happening) in \(self.situation)" }

    /// The error that the circuit tells afterwards: a failure that counts leaves its own, and closing forgets it.
    func lastError(after before: String?) -> String? {
        switch self.happening {
        case .callFailed, .callFailedTwice, .recordedFailure, .probeFailed:
            self.effect.failures == nil && self.effect.state == nil ? before : "E"
        default:
            self.effect.state == .closed ? nil : before
        }
    }
}

enum CircuitTable {
    static let all = Situation.allCases
    static let window: [Situation] = [.closed, .closedOne, .closedTwo, .overClosed]
    static let consecutive: [Situation] = [.consecutive, .consecutiveOne, .consecutiveTwo]
    static let due: [Situation] = [.openDue, .openLongDue, .overDue]
    static let early: [Situation] = [.openEarly, .overOpen]
    static let half: [Situation] = [.halfFree, .halfLast, .halfFull, .halfDead, .halfExpired]
    static let heldOpen: [Situation] = [.heldOpenClosed, .heldOpenOpen, .heldOpenDue]
    static let heldClosed: [Situation] = [.heldClosedClosed, .heldClosedOpen, .heldClosedDue]
    static let held = heldOpen + heldClosed
    static let unknown: [Situation] = [.unknownRule, .unknownState]
    static func except(_ situations: [Situation]) -> [Situation] {
        Situation.allCases.filter { !situations.contains($0) }
    }

    static let now = Situation.now
    static func open(in time: Int64) -> Circuit.State { .open(until: StoreTime(now + time)) }
    static func reopened() -> Effect {
        // The second trip in a row waits twice the recovery time.
        Effect(reply: .report(.reopened), state: open(in: 1_000), trips: 2, probes: [], history: [.reopened])
    }
    static let closed = Effect(
        reply: .report(.closed), state: .closed, failures: 0, trips: 0, probes: [], history: [.closed])
    static let tripped = Effect(
        reply: .report(.tripped), state: open(in: 500), failures: 3, trips: 1, history: [.tripped])
    static func counted(failures: Int) -> Effect { Effect(reply: .report(.counted), failures: failures) }
    static func probing(_ probes: [Int64], _ history: [CircuitEvent.Kind] = []) -> Effect {
        Effect(reply: .probe, state: nil, probes: probes, history: history)
    }

    static let lines = calls + probes + records + operators + asked

    static let calls: [Line] = [
        Line(.callArrived, in: window + consecutive, Effect(reply: .proceed)),
        Line(.callArrived, in: early, Effect(reply: .refuse(.open, until: now + 7))),
        Line(.callArrived, in: due, with(probing([5], [.probing])) { $0.state = .halfOpen(successes: 0) }),
        Line(.callArrived, in: [.halfFree, .halfLast], probing([1, 5])),
        Line(.callArrived, in: [.halfFull], Effect(reply: .refuse(.probing, until: nil))),
        Line(.callArrived, in: [.halfDead], probing([1, 5], [.proberDied])),
        Line(.callArrived, in: [.halfExpired], probing([1, 5], [.probeExpired])),
        Line(.callArrived, in: heldOpen, Effect(reply: .refuse(.held, until: now + 30))),
        Line(.callArrived, in: heldClosed + unknown, Effect(reply: .uncounted)),

        Line(.callFailed, in: [.closed, .consecutive], counted(failures: 1)),
        Line(.callFailed, in: [.closedOne, .consecutiveOne, .overClosed], counted(failures: 2)),
        Line(.callFailed, in: [.closedTwo, .consecutiveTwo], tripped),
        Line(.callFailed, .callFailedTwice, .callSucceeded, in: [.unknownRule], .unchanged),
        Line(.callFailed, in: except(window + consecutive + [.unknownRule]), .stale),
        Line(.callFailedTwice, in: [.closed, .consecutive], with(.stale) { $0.failures = 1 }),
        Line(.callFailedTwice, in: [.closedOne, .consecutiveOne, .overClosed], with(.stale) { $0.failures = 2 }),
        Line(.callFailedTwice, in: [.closedTwo, .consecutiveTwo], with(tripped) { $0.reply = .report(.stale) }),
        Line(.callFailedTwice, in: except(window + consecutive + [.unknownRule]), .stale),
        Line(.callSucceeded, in: window + [.consecutive], .unchanged),
        Line(.callSucceeded, in: [.consecutiveOne, .consecutiveTwo], counted(failures: 0)),
        Line(.callSucceeded, in: except(window + consecutive + [.unknownRule]), .stale),
        Line(.callFailedStale, .callSucceededStale, in: all, .stale),
    ]

    static let probes: [Line] =
        [
            Line(.probeSucceeded, in: [.halfFree], succeeded(leaving: [])),
            Line(.probeSucceeded, in: [.halfLast], closed),
            Line(.probeSucceeded, in: [.halfFull], succeeded(leaving: [2])),
            Line(.probeSucceeded, in: [.halfDead], succeeded(leaving: [9])),
            Line(.probeSucceeded, in: [.halfExpired], succeeded(leaving: [8])),
            Line(.probeFailed, in: half, reopened()),
            Line(.probeReleased, in: [.halfFree, .halfLast], with(.unchanged) { $0.probes = [] }),
            Line(.probeReleased, in: [.halfFull], with(.unchanged) { $0.probes = [2] }),
            Line(.probeReleased, in: [.halfDead], with(.unchanged) { $0.probes = [9] }),
            Line(.probeReleased, in: [.halfExpired], with(.unchanged) { $0.probes = [8] }),
            Line(.probeSucceeded, .probeFailed, .probeReleased, in: except(half), .stale),
            Line(
                .probeSucceededWrongToken, .probeFailedWrongToken, .probeReleasedWrongToken, .probeSucceededWrongEpoch,
                .probeFailedWrongEpoch, .probeReleasedWrongEpoch, in: all, .stale),
        ]
        + [([.halfFree, .halfLast], []), ([.halfFull], [2]), ([.halfDead], [9]), ([.halfExpired], [8])].map {
            (situations: [Situation], left: [Int64]) in
            Line(
                .probeSucceededAtLeaseEnd, .probeFailedAtLeaseEnd, .probeReleasedAtLeaseEnd, .probeSucceededLate,
                .probeFailedLate, .probeReleasedLate, in: situations,
                Effect(reply: .report(.stale), probes: left, history: [.probeExpired]))
        } + [
            Line(
                .probeSucceededAtLeaseEnd, .probeFailedAtLeaseEnd, .probeReleasedAtLeaseEnd, .probeSucceededLate,
                .probeFailedLate, .probeReleasedLate, in: except(half), .stale)
        ]

    static let records: [Line] = [
        Line(.recordedFailure, in: [.closed, .consecutive], counted(failures: 1)),
        Line(.recordedFailure, in: [.closedOne, .consecutiveOne, .overClosed], counted(failures: 2)),
        Line(.recordedFailure, in: [.closedTwo, .consecutiveTwo], tripped),
        Line(.recordedFailure, in: due, with(reopened()) { $0.history = [.probing, .reopened] }),
        Line(.recordedFailure, in: [.halfFree, .halfLast], reopened()),
        Line(.recordedFailure, in: [.halfDead], with(reopened()) { $0.history = [.proberDied, .reopened] }),
        Line(.recordedFailure, in: [.halfExpired], with(reopened()) { $0.history = [.probeExpired, .reopened] }),
        Line(.recordedSuccess, in: window + [.consecutive], .unchanged),
        Line(.recordedSuccess, in: [.consecutiveOne, .consecutiveTwo], counted(failures: 0)),
        Line(.recordedSuccess, in: due, with(succeeded(leaving: [])) { $0.history = [.probing] }),
        Line(.recordedSuccess, in: [.halfFree], succeeded(leaving: [1])),
        Line(.recordedSuccess, in: [.halfDead], with(succeeded(leaving: [1])) { $0.history = [.proberDied] }),
        Line(.recordedSuccess, in: [.halfLast], closed),
        Line(
            .recordedSuccess, in: [.halfExpired], with(succeeded(leaving: [1])) { $0.history = [.probeExpired] }),
        Line(.recordedFailure, .recordedSuccess, in: early + [.halfFull] + held + unknown, .stale),
        Line(.recordedFailureStale, .recordedSuccessStale, in: all, .stale),
    ]

    static let operators: [Line] =
        [
            Line(
                .reset, in: all,
                Effect(
                    reply: .nothing, state: .closed, failures: 0, trips: 0, probes: [], hold: Effect.Hold.none,
                    history: [.reset])),
            Line(.released, in: held, Effect(reply: .released(true), hold: Effect.Hold.none, history: [.released])),
            Line(.released, in: except(held), Effect(reply: .released(false))),
            Line(
                .probesAllowed, in: early,
                Effect(reply: .released(true), state: open(in: 0), history: [.probeAllowed])),
            Line(.probesAllowed, in: except(early), Effect(reply: .released(false))),
            Line(.configured, in: all, Effect(reply: .nothing, rules: Happening.newRules, history: [.configured])),
        ]
        + [
            (Happening.heldOpen, Effect.Hold.held(.open, until: nil)),
            (.heldOpenForTime, .held(.open, until: now + 40)),
            (.heldClosed, .held(.closed, until: nil)),
            (.heldClosedForTime, .held(.closed, until: now + 40)),
        ].flatMap { (happening, hold) in
            let effect = Effect(reply: .nothing, hold: hold, history: [.held])
            return [
                Line(happening, in: except(half), effect),
                Line(
                    happening, in: half,
                    with(effect) {
                        $0.state = open(in: 0)
                        $0.probes = []
                    }),
            ]
        }

    static let asked: [Line] = [
        Line(.asked, in: [.closed, .consecutive], Effect(reply: .asked(.proceed, failures: 0))),
        Line(.asked, in: [.closedOne, .consecutiveOne, .overClosed], Effect(reply: .asked(.proceed, failures: 1))),
        Line(.asked, in: [.closedTwo, .consecutiveTwo], Effect(reply: .asked(.proceed, failures: 2))),
        Line(.asked, in: early, Effect(reply: .asked(.refuse(.open, until: StoreTime(now + 7)), failures: 2))),
        Line(.asked, in: due, Effect(reply: .asked(.claim, failures: 2))),
        Line(
            .asked, in: [.halfFree, .halfLast, .halfDead, .halfExpired],
            Effect(reply: .asked(.claim, failures: 2))),
        Line(.asked, in: [.halfFull], Effect(reply: .asked(.refuse(.probing, until: nil), failures: 2))),
        Line(
            .asked, in: [.heldOpenClosed],
            Effect(reply: .asked(.refuse(.held, until: StoreTime(now + 30)), failures: 1))),
        Line(
            .asked, in: [.heldOpenOpen, .heldOpenDue],
            Effect(reply: .asked(.refuse(.held, until: StoreTime(now + 30)), failures: 2))),
        Line(.asked, in: [.heldClosedClosed] + unknown, Effect(reply: .asked(.uncounted, failures: 1))),
        Line(.asked, in: [.heldClosedOpen, .heldClosedDue], Effect(reply: .asked(.uncounted, failures: 2))),
    ]

    static let pairs = lines.flatMap { line in
        line.happenings.flatMap { happening in
            line.situations.map { Pair(happening: happening, situation: $0, effect: line.effect) }
        }
    }

    private static func succeeded(leaving probes: [Int64]) -> Effect {
        Effect(reply: .report(.counted), state: .halfOpen(successes: 1), probes: probes)
    }

    private static func with(_ effect: Effect, _ change: (inout Effect) -> Void) -> Effect {
        var effect = effect
        change(&effect)
        return effect
    }
}
