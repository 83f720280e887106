import BreakerTestSupport
import Testing

@testable import BreakerStore

/// A call is a value: what it does next depends on its step and the answer alone.
@Suite(.timeLimit(.minutes(10))) struct CallTableTests {
    private static func input(_ name: String) throws -> Call.Input {
        try #require(CallTable.inputs.first { $0.name == name }, "no input '\(name)'").input
    }

    private static func call(_ row: CallTable.Row) throws -> Call {
        var call = Call(row.form, retry: .constant(maxRetries: 1, delay: .milliseconds(250)))
        for name in row.way {
            let before = "\(call.step)"
            let after = "\(call.next(try Self.input(name)))"
            #expect(before != after, "'\(name)' is no answer to '\(before)'")
        }
        return call
    }

    @Test(arguments: CallTable.rows) func eachAnswerLeadsOn(_ row: CallTable.Row) throws {
        let call = try Self.call(row)
        for (name, input) in CallTable.inputs {
            var after = call
            let isAnswer = after.apply(input)
            #expect(isAnswer == (row.after[name] != nil), "\(call.step), then \(name)")
            #expect("\(after.step)" == row.after[name] ?? "\(call.step)", "\(call.step), then \(name)")
        }
        let unknown = Set(row.after.keys).subtracting(CallTable.inputs.map(\.name))
        #expect(unknown.isEmpty)
    }

    @Test func eachStepHasARow() throws {
        let steps = try CallTable.rows.map { "\(try Self.call($0).step)" }
        let all = [
            "ask cache", "read", "ask memory", "refuse", "begin", "refresh", "settle", "note", "trip memory", "publish",
            "ask to retry", "claim", "report", "count", "trip in", "run", "await", "sleep", "replace", "admitted",
        ]
        for step in all { #expect(steps.contains { $0.hasPrefix(step) }, "no row for '\(step)'") }
    }

    // MARK: - Outcomes

    /// What becomes of an outcome, by its admission, without a reading of the circuit.
    @Test(arguments: [
        (Admission.Source.closed, ["succeeded", "failed, total, failure", "ignored", "failed, total, failure"]),
        (
            .closedConsecutive,
            ["succeeded, success", "failed, total, failure", "ignored", "failed, total, failure"]
        ),
        (.probe, ["outsideWindows, probe", "failed, total, probe", "ignored, probe", "failed, total, probe"]),
        (.uncounted, ["outsideWindows", "failed, total, none", "ignored", "failed, total, none"]),
        (.observed, ["outsideWindows", "failed, total, none", "ignored", "failed, total, none"]),
        (
            .closedInMemory,
            [
                "succeeded, inMemory", "failed, in memory in 7, inMemory", "ignored, inMemory",
                "failed, in memory in 7, inMemory",
            ]
        ),
        (
            .probeInMemory,
            ["outsideWindows, inMemory", "failed, total, inMemory", "ignored, inMemory", "failed, total, inMemory"]
        ),
    ])
    func anOutcomeIsCountedAndReported(_ source: Admission.Source, _ expected: [String]) {
        let verdicts: [Verdict] = [.success, .failure, .ignored, .outage(for: nil)]
        for (verdict, words) in zip(verdicts, expected) {
            let pending = PendingOutcome(Outcome(verdict: verdict), Admission(source, epoch: 7), Call.Facts())
            #expect("\(pending)" == words, "\(source), \(verdict)")
        }
    }

    @Test func theBoardCountsFailuresInPlaceOfRows() {
        func report(_ verdict: Verdict) -> PendingOutcome.Report {
            PendingOutcome(Outcome(verdict: verdict), CallTable.closed, CallTable.rates).report
        }
        #expect(report(.failure) == .none)
        // An outage opens the circuit at once.
        #expect(report(.outage(for: .seconds(1))) == .failure)
    }

    @Test(
        arguments: [
            (CallDecision(.proceed, epoch: 7, until: .max), true, "decisive(epoch: 7)"),
            (CallDecision(.proceed, epoch: 8, until: .max), true, "total"),
            (nil, true, "decisive(epoch: 7)"), (nil, false, "total"),
        ] as [(CallDecision?, Bool, String)])
    func aRateCountsCallsOfItsEpoch(_ decision: CallDecision?, _ mayUseFile: Bool, _ expected: String) {
        let refreshed = Call.Refreshed(
            decision: decision, mayUseFile: mayUseFile, facts: CallTable.rates)
        let pending = PendingOutcome(CallTable.failed, CallTable.closed, CallTable.rates, refreshed)
        #expect(pending.failure.map { "\($0.counting)" } == expected)
    }

    @Test func aSlowProbeFails() {
        let outcome = Outcome(verdict: .success, duration: 2_000_000)
        let pending = PendingOutcome(outcome, Admission(.probe, epoch: 7, token: 1), Call.Facts(isSlow: true))
        #expect(pending.outcome.verdict == .failure)
        #expect(pending.outcome.text == "took 2 s")
        #expect(pending.failure?.call == CountedFailure(isFailed: false, isSlow: true))
    }

    /// An outcome without an admission is reported unless nothing could change.
    @Test(arguments: [
        (CallDecision.Kind.proceed, "succeeded", "failed, total, recorded"),
        (.proceedMeasured, "succeeded", "failed, total, recorded"),
        (.proceedWithoutFailures, "succeeded", "failed, total, recorded"),
        (.proceedWithFailures, "succeeded, recorded", "failed, total, recorded"),
        (.open, "outsideWindows", "failed, total, none"), (.heldOpen, "outsideWindows", "failed, total, none"),
        (.heldClosed, "outsideWindows", "failed, total, none"), (.observe, "outsideWindows", "failed, total, none"),
        (.probing, "outsideWindows", "failed, total, recorded"),
        (.claim, "outsideWindows, recorded", "failed, total, recorded"),
        (.unknown, "succeeded, recorded", "failed, total, recorded"),
    ])
    func aRecordedOutcome(_ kind: CallDecision.Kind, _ success: String, _ failure: String) {
        let decision = CallDecision(kind, epoch: 7, until: .max)
        let refreshed = Call.Refreshed(decision: decision, mayUseFile: true, facts: Call.Facts())
        for (outcome, words) in [(.success, success), (CallTable.failed, failure), (.ignored, "ignored")] {
            var call = Call(.record(outcome))
            #expect("\(call.next(.refreshed(refreshed)))" == "settle \(words)", "\(kind), \(outcome.verdict)")
        }
    }
}
