import CBreakerStore

@testable import BreakerStore

/// What a call does in each of its steps after each answer, in words.
enum CallTable {
    struct Failed: Error {}

    static let failed = Outcome(verdict: .failure, error: Failed(), isThrown: true)
    static let refusal = CircuitOpenError(name: "a", cause: .open)
    static let closed = Admission(.closed, epoch: 7)
    static let rates = Call.Facts(hasRateRule: true, hasFailureRateRule: true)
    static let reached = Circuit.ReachedRate.failed(WindowCount(calls: 10, bad: 5))
    static let report = OutcomeReport.probeEnded(
        Report(worker: 1, sequence: 1, epoch: 7, at: StoreTime(microseconds: 0)), .failure, token: 3)

    /// All answers of a driver, by name.
    static let inputs: [(name: String, input: Call.Input)] =
        CallDecision.Kind.allNamed.map { name, kind in
            ("decision \(name)", .decision(CallDecision(kind, epoch: 7, until: .max), at: 0, isStoreUsable: true))
        } + [
            ("decision open, over", .decision(CallDecision(.open, epoch: 7, until: 90), at: 90, isStoreUsable: true)),
            (
                "decision open until 90",
                .decision(CallDecision(.open, epoch: 7, until: 90), at: 89, isStoreUsable: true)
            ),
            (
                "decision heldClosed, over",
                .decision(CallDecision(.heldClosed, epoch: 7, until: 9), at: 9, isStoreUsable: true)
            ),
            (
                "decision observe, over",
                .decision(CallDecision(.observe, epoch: 7, until: 9), at: 9, isStoreUsable: true)
            ),
            (
                "decision unknown, no store",
                .decision(CallDecision(.unknown, epoch: 0, until: .max), at: 0, isStoreUsable: false)
            ),
            (
                "decision proceed, no store",
                .decision(CallDecision(.proceed, epoch: 7, until: .max), at: 0, isStoreUsable: false)
            ),
            ("unknown", .unknown), ("unusable", .unusable),
            ("admitted", .admitted(Self.closed)),
            ("admitted as probe", .admitted(Admission(.probe, epoch: 8, token: 3))),
            ("refused", .refused(.probing, until: nil, lastError: "e")), ("refusal", .refusal(Self.refusal)),
            ("begun", .begun(Self.closed, timeout: .seconds(1))),
            ("ended well", .ended(.success, Call.Facts(), elapsed: .seconds(2))),
            ("ended badly", .ended(Self.failed, Call.Facts(), elapsed: .seconds(2))),
            ("ended badly under a rate", .ended(Self.failed, Self.rates, elapsed: .seconds(2))),
            ("timed out", .timedOut(Self.failed, Call.Facts())),
            ("operation ended", .operationEnded(elapsed: .seconds(3))),
            (
                "refreshed",
                .refreshed(
                    Call.Refreshed(
                        decision: CallDecision(.proceed, epoch: 7, until: .max), mayUseFile: true, facts: Self.rates))
            ),
            (
                "refreshed under another rule",
                .refreshed(
                    Call.Refreshed(
                        decision: CallDecision(.proceedWithoutFailures, epoch: 7, until: .max), mayUseFile: true,
                        facts: Call.Facts()))
            ),
            ("settled", .settled(nil, nil)), ("settled with a report", .settled(Self.report, nil)),
            ("committed", .committed), ("not committed", .notCommitted), ("carried out", .carriedOut),
            ("published", .published(isCancelled: false)), ("published, cancelled", .published(isCancelled: true)),
            ("counted", .counted(nil)), ("counted, reached", .counted(Self.reached)),
            ("may retry", .mayRetry(true, draw: 0)), ("may not retry", .mayRetry(false, draw: 0)),
            ("slept", .slept(wasCancelled: false)), ("sleep cancelled", .slept(wasCancelled: true)),
        ]

    /// A step of a call, how it is reached, and what follows after each answer to it; any other input changes nothing.
    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let form: Call.Form
        let way: [String]
        let after: [String: String]

        init(_ form: Call.Form, _ way: [String], _ after: [String: String]) {
            self.form = form
            self.way = way
            self.after = after
            self.description = (["\(form)"] + way).joined(separator: ", ")
        }
    }

    private static let run = Call.Form.run(hasFallback: true)
    private static let toCount = [
        "decision proceed", "begun", "ended badly under a rate", "refreshed", "settled",
    ]
    private static let decisions: [String: String] = [
        "decision proceed": "begin closed 7", "decision proceedMeasured": "begin closed 7",
        "decision proceedWithoutFailures": "begin closedConsecutive 7",
        "decision proceedWithFailures": "begin closedConsecutive 7",
        "decision heldClosed": "begin uncounted 0", "decision observe": "begin observed 0",
        "decision open": "refuse open", "decision open until 90": "refuse open until 90",
        "decision heldOpen": "refuse held", "decision probing": "refuse probing",
    ]
    private static let undecided = [
        "decision unknown", "decision claim", "decision open, over", "decision heldClosed, over",
        "decision observe, over",
    ]

    private static func decided(otherwise step: String) -> [String: String] {
        Self.undecided.reduce(into: Self.decisions) { $0[$1] = step }
    }

    static let rows: [Row] = [
        // MARK: Admission
        Row(
            Self.run, [],
            Self.decided(otherwise: "read").merging([
                "decision unknown, no store": "ask memory", "decision proceed, no store": "begin closed 7",
            ]) { $1 }),
        Row(
            Self.run, ["decision unknown"],
            Self.decided(otherwise: "claim").merging([
                "decision unknown, no store": "claim", "decision proceed, no store": "ask memory",
                "unknown": "claim", "unusable": "ask memory",
            ]) { $1 }),
        Row(
            Self.run, ["decision unknown", "unusable"],
            ["admitted": "begin closed 7", "admitted as probe": "begin probe 8", "refused": "refuse probing, e"]),
        Row(
            Self.run, ["decision unknown", "unknown"],
            [
                "admitted": "read, then begin closed 7", "admitted as probe": "begin probe 8",
                "refused": "refuse probing, e", "not committed": "ask memory",
            ]),
        Row(Self.run, ["decision open"], ["refusal": "publish refused after 0.0 seconds"]),
        Row(
            Self.run, ["decision open", "refusal"],
            ["published": "replace CircuitOpenError", "published, cancelled": "throw CircuitOpenError"]),
        Row(Self.run, ["decision proceed"], ["begun": "run closed 7 within 1.0 seconds"]),
        Row(.permit, ["decision proceed"], ["begun": "admitted closed 7"]),
        Row(.permit, ["decision proceed", "begun"], [:]),
        Row(
            .permit, ["decision open", "refusal"],
            ["published": "throw CircuitOpenError", "published, cancelled": "throw CircuitOpenError"]),

        // MARK: Outcomes
        Row(
            Self.run, ["decision proceed", "begun"],
            [
                "ended well": "settle succeeded", "ended badly": "settle failed, total, failure",
                "ended badly under a rate": "refresh closed 7", "timed out": "settle failed, total, failure",
            ]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly under a rate"],
            [
                "refreshed": "settle failed, decisive in 7, none",
                "refreshed under another rule": "settle failed, total, failure",
            ]),
        Row(
            Self.run, ["decision proceed", "begun", "ended well"],
            ["settled": "publish succeeded after 2.0 seconds", "settled with a report": "report"]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly"],
            ["settled": "count total", "settled with a report": "report"]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly", "settled with a report"],
            ["committed": "note, committed, reads", "not committed": "note"]),
        Row(
            .unattended, ["decision proceed", "begun", "ended badly", "settled with a report"],
            ["committed": "note, committed", "not committed": "note"]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly", "settled with a report", "committed"],
            ["carried out": "count total, committed"]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly", "settled with a report", "not committed"],
            ["carried out": "count total"]),
        Row(
            Self.run, ["decision proceed", "begun", "ended badly", "settled"],
            ["counted": "publish failed after 2.0 seconds", "counted, reached": "trip memory"]),
        Row(
            Self.run, Self.toCount,
            ["counted": "publish failed after 2.0 seconds", "counted, reached": "trip in 7"]),
        Row(
            Self.run, Self.toCount + ["counted, reached"],
            ["committed": "publish failed after 2.0 seconds", "not committed": "trip memory"]),
        Row(
            Self.run, Self.toCount + ["counted, reached", "not committed"],
            ["carried out": "publish failed after 2.0 seconds"]),
        Row(.unattended, Self.toCount, ["counted": "done", "counted, reached": "trip in 7"]),

        // MARK: Time-out
        Row(
            Self.run, ["decision proceed", "begun", "timed out", "settled"],
            ["counted": "await the operation", "counted, reached": "trip memory"]),
        Row(
            Self.run, ["decision proceed", "begun", "timed out", "settled", "counted"],
            ["operation ended": "publish failed after 3.0 seconds"]),

        // MARK: Retry and end
        Row(
            Self.run, Self.toCount + ["counted"],
            ["published": "ask to retry", "published, cancelled": "throw Failed"]),
        Row(
            Self.run, Self.toCount + ["counted", "published"],
            ["may retry": "sleep 0.25 seconds", "may not retry": "replace Failed"]),
        Row(
            Self.run, Self.toCount + ["counted", "published", "may retry"],
            ["slept": "ask cache", "sleep cancelled": "throw Failed"]),
        Row(
            Self.run, Self.toCount + ["counted", "published", "may retry", "slept", "decision open", "refusal"],
            ["published": "replace Failed", "published, cancelled": "throw Failed"]),
        Row(
            Self.run,
            Self.toCount + ["counted", "published", "may retry", "slept"] + Self.toCount + ["counted"],
            ["published": "replace Failed", "published, cancelled": "throw Failed"]),
        Row(
            .run(hasFallback: false), Self.toCount + ["counted", "published"],
            ["may retry": "sleep 0.25 seconds", "may not retry": "throw Failed"]),
        Row(Self.run, Self.toCount + ["counted", "published", "may not retry"], [:]),
        Row(
            Self.run, ["decision proceed", "begun", "ended well", "settled"],
            ["published": "ask to retry", "published, cancelled": "done"]),

        // MARK: Without an admission
        Row(
            .record(.success), [],
            ["refreshed": "settle succeeded", "refreshed under another rule": "settle succeeded"]),
        Row(
            .record(Self.failed), [],
            [
                "refreshed": "settle failed, decisive in 7, none",
                "refreshed under another rule": "settle failed, total, recorded",
            ]),
        Row(
            .record(.ignored), [],
            ["refreshed": "settle ignored", "refreshed under another rule": "settle ignored"]),
    ]
}

extension CallDecision.Kind {
    static let allNamed: [(String, CallDecision.Kind)] = (0...UInt64(CallDecision.Kind.claim.rawValue)).compactMap {
        CallDecision.Kind(rawValue: $0).map { ("\($0)", $0) }
    }
}

extension Admission {
    fileprivate var words: String { "\(self.source) \(self.epoch)" }
}

extension PendingOutcome: CustomStringConvertible {
    var description: String {
        var words: [String] = []
        if let lane { words.append("\(lane)") }
        if let failure {
            words.append(
                [failure.call.isFailed ? "failed" : "", failure.call.isSlow ? "slow" : ""].filter { !$0.isEmpty }
                    .joined(separator: " and "))
            switch failure.counting {
            case .total: words.append("total")
            case .decisive(let epoch): words.append("decisive in \(epoch)")
            case .inMemory(let epoch): words.append("in memory in \(epoch)")
            }
        }
        if self.failure != nil || self.report != .none { words.append("\(self.report)") }
        if let text = self.outcome.text { words.append(text) }
        return words.joined(separator: ", ")
    }
}

extension Call.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .immediate(let immediate): immediate.words
        case .change(let change): change.words
        case .count(let pending):
            "count \(pending.failure.map { "\($0.counting)" } ?? "nothing")"
                + (pending.isCommitted ? ", committed" : "")
        case .user(let step): step.words
        }
    }
}

extension Call.Immediate {
    fileprivate var words: String {
        switch self {
        case .readCache: "ask cache"
        case .read: "read"
        case .readFallback: "ask memory"
        case .refuse(let cause, let until, let error):
            "refuse \(cause)" + (until.map { " until \($0)" } ?? "") + (error.map { ", \($0)" } ?? "")
        case .begin(let admission, let readsFirst): (readsFirst ? "read, then " : "") + "begin \(admission.words)"
        case .refresh(let admission): "refresh \(admission.words)"
        case .settle(let pending): "settle \(pending)"
        case .applyReport(_, .committed): "note, committed, reads"
        case .applyReport(_, .committedForOthers): "note, committed"
        case .applyReport(_, .notCommitted): "note"
        case .tripFallback: "trip memory"
        case .publish(let result, let time): "publish \(result) after \(time)"
        case .askToRetry: "ask to retry"
        }
    }
}

extension Call.Change {
    fileprivate var words: String {
        switch self {
        case .claim: return "claim"
        case .report: return "report"
        case .trip(_, let epoch, _): return "trip in \(epoch)"
        }
    }
}

extension Call.UserStep {
    fileprivate var words: String {
        switch self {
        case .run(let admission, let timeout): "run \(admission.words)" + (timeout.map { " within \($0)" } ?? "")
        case .awaitOperation: "await the operation"
        case .sleep(let time): "sleep \(time)"
        case .replace(let error): "replace \(type(of: error))"
        case .done(.value): "done"
        case .done(.admitted(let admission)): "admitted \(admission.words)"
        case .done(.error(let error)): "throw \(type(of: error))"
        }
    }
}
