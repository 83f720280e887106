/// What is to be done with a call's outcome: decided once, then carried out by whichever thread may wait.
struct PendingOutcome: Sendable {
    /// How a failed or slow call is to be counted.
    enum Counting: Equatable, Sendable {
        /// For totals alone.
        case total
        /// Where a failure-rate rule decides; the call was let through in this epoch.
        case decisive(epoch: Int64)
        /// By this process for itself: the in-memory fallback, which let the call through in this epoch, decides by the
        /// process's own counts.
        case inMemory(epoch: Int64)
    }

    /// Which report the outcome makes.
    enum Report: Equatable, Sendable {
        case none, failure, success, probe
        /// The outcome of a call without an admission.
        case recorded
        /// To the circuit in memory, which let the call through.
        case inMemory
    }

    /// The text of a failure, and the uptime at which the call ended.
    struct ErrorText: Sendable {
        let text: String
        let uptime: Int64
    }

    /// The outcome for the file: the success of a slow probe is a failure there.
    private(set) var outcome: Outcome
    let admission: Admission
    /// The word of the lanes to which a good or ignored outcome is added.
    private(set) var lane: LaneCounts.Word?
    /// The duration to be counted, in microseconds.
    private(set) var duration: Int64?
    /// A failed or slow call, and how it is counted.
    private(set) var failure: (call: CountedFailure, counting: Counting)?
    var report = Report.none
    /// Nil unless the board or the file is to get the text.
    var error: ErrorText?
    /// Whether the report was committed just now, so that the file system has just worked.
    var isCommitted = false
    /// Whether the file may say more about the circuit that let the call through.
    let needsRefresh: Bool

    /// - Parameter refreshed: what a read says, if the outcome needs one.
    init(_ outcome: Outcome, _ admission: Admission, _ facts: Call.Facts, _ refreshed: Call.Refreshed? = nil) {
        self.outcome = outcome
        self.admission = admission
        let call = CountedFailure(
            isFailed: outcome.verdict.isFailure, isSlow: facts.isSlow && outcome.verdict != .ignored)
        let isCounted = call.isFailed || call.isSlow
        self.needsRefresh =
            isCounted && admission.isOfFile && facts.hasRateRule
            || admission.source == .closedConsecutive && outcome.verdict == .success
        if outcome.verdict != .ignored { self.duration = outcome.duration }
        if isCounted {
            self.failure = (call, Self.counting(admission, facts, refreshed))
        } else {
            let good: LaneCounts.Word = admission.isInWindow ? .succeeded : .aside
            self.lane = outcome.verdict == .ignored ? .ignored : good
        }
        self.report = Self.report(outcome.verdict, admission, facts, refreshed)
        if admission.isProbe, call.isSlow, outcome.verdict == .success, let duration = outcome.duration {
            self.outcome.verdict = .failure
            self.outcome.text = "took \(Duration.microseconds(duration).readable)"
        }
    }

    private static func counting(
        _ admission: Admission, _ facts: Call.Facts, _ refreshed: Call.Refreshed?
    ) -> Counting {
        switch admission.source {
        case .uncounted, .observed, .probe, .probeInMemory: return .total
        case .closedInMemory: return .inMemory(epoch: admission.epoch)
        case .closed, .closedConsecutive: break
        }
        guard facts.hasRateRule, let refreshed else { return .total }
        // Without a reading, the circuit is taken to be still in the epoch that let the call through.
        let isInEpoch = refreshed.decision.map { $0.epoch == admission.epoch } ?? refreshed.mayUseFile
        return isInEpoch ? .decisive(epoch: admission.epoch) : .total
    }

    private static func report(
        _ verdict: Verdict, _ admission: Admission, _ facts: Call.Facts, _ refreshed: Call.Refreshed?
    ) -> Report {
        switch (admission.source, verdict) {
        case (.uncounted, _), (.observed, _): .none
        case (.closedInMemory, _), (.probeInMemory, _): .inMemory
        case (.probe, _): .probe
        case (.closed, .success), (.closed, .ignored), (.closedConsecutive, .ignored): .none
        // A success is committed only to forget failures.
        case (.closedConsecutive, .success):
            refreshed?.decision.map { $0.kind == .proceedWithFailures } ?? true ? .success : .none
        // The board counts this failure, so that no code would read a row of it. An outage is reported all the same:
        // it opens the circuit at once.
        case (.closed, .failure), (.closedConsecutive, .failure): facts.countsFailures ? .none : .failure
        case (.closed, .outage), (.closedConsecutive, .outage): .failure
        }
    }
}
