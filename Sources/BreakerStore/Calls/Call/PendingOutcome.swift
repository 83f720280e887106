/// How a call's outcome is counted and reported: decided once, then carried out by a thread that may block.
struct PendingOutcome: Sendable {
    /// How a failed or slow call is to be counted.
    enum Counting: Equatable, Sendable {
        /// In totals only.
        case total
        /// In totals and windows, by which a failure-rate rule decides; the call was let through in this epoch.
        case decisive(epoch: Epoch)
        /// On the board and privately: the in-memory fallback, which let the call through in this epoch, decides by the
        /// private counts.
        case inMemory(epoch: Epoch)
    }

    /// Which report the outcome makes.
    enum Report: Equatable, Sendable {
        case none, failure, success, probe
        /// The outcome of a call without an admission.
        case recorded
        /// To the in-memory fallback, which let the call through.
        case inMemory
    }

    /// The text of a failure, and the uptime at which the call ended.
    struct ErrorText: Sendable {
        let text: String
        let uptime: Uptime
    }

    /// The outcome for the file: the success of a slow probe is a failure there.
    private(set) var outcome: Outcome
    let admission: Admission
    /// The counter of the lanes to which a success or an ignored outcome is added.
    private(set) var lane: LaneCounts.Word?
    /// The duration to be counted, in microseconds.
    private(set) var duration: Int64?
    /// A failed or slow call, and how it is counted.
    private(set) var failure: (call: CountedFailure, counting: Counting)?
    var report = Report.none
    /// Nil unless the board or the file is to get the text.
    var error: ErrorText?
    /// Whether the report was just committed, which shows that the file system works.
    var isCommitted = false
    /// Whether the circuit must be read again before this can be decided.
    let needsRefresh: Bool

    /// - Parameter refreshed: what a read has found; nil before the read, and then, if `needsRefresh`, the value is
    ///   provisional.
    init(_ outcome: Outcome, _ admission: Admission, _ facts: Call.Facts, _ refreshed: Call.Refreshed? = nil) {
        self.outcome = outcome
        self.admission = admission
        let call = CountedFailure(
            isFailed: outcome.verdict.isFailure, isSlow: facts.isSlow && outcome.verdict != .ignored)
        let isCounted = call.isFailed || call.isSlow
        self.needsRefresh =
            isCounted && admission.isClosedInFile && facts.hasRateRule
            || admission.source == .closedConsecutive && outcome.verdict == .success
            || outcome.verdict.outage != nil && admission.isClosedInFile
        if outcome.verdict != .ignored { self.duration = outcome.duration }
        if isCounted {
            self.failure = (call, Self.counting(admission, facts, refreshed))
        } else {
            let good: LaneCounts.Word = admission.isInWindow ? .succeeded : .outsideWindows
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
        // If the read failed, the circuit is assumed to be still in the epoch that let the call through, unless this
        // handle may not use the file.
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
        // The board counts this failure, and no code would read a row of it. An outage is reported in any case, because
        // it trips the circuit at once.
        case (.closed, .failure), (.closedConsecutive, .failure): facts.hasFailureRateRule ? .none : .failure
        // Many calls get the same answer from a provider: only those that name a later end are committed.
        case (.closed, .outage), (.closedConsecutive, .outage):
            refreshed?.isOpen(untilEndOf: verdict.outage) == true ? .none : .failure
        }
    }
}
