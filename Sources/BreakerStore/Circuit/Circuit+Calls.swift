/// The instant at which an event is decided, and a random number in `0..<1` for jitter.
struct Moment: Hashable, Sendable {
    var now: StoreTime
    var draw: Double = 0
}

/// How a call ended, with the key that makes it count once however often it is applied.
struct Report: Hashable, Sendable {
    var worker: Int64
    var sequence: Int64
    /// The epoch of the call's admission.
    var epoch: Int64
    /// When the call ended.
    var at: StoreTime
    var error: String?
}

/// Calls through a closed circuit.
extension Circuit {
    enum ReportAction: Hashable, Sendable {
        /// The report came too late, or was applied before: nothing changed.
        case stale
        /// There was nothing to change.
        case unchanged
        case counted
        case tripped
        case reopened
        case closed
    }

    mutating func callFailed(
        _ report: Report,
        at moment: Moment,
        isAlive: (Int64) -> Bool = { _ in true }
    ) -> ReportAction {
        self.endHoldIfOver(at: moment.now)
        guard report.epoch == self.epoch, self.hold == nil else { return .stale }
        switch self.state {
        case .closed: break
        case .open, .halfOpen, .unknown: return .stale
        }
        // This version does not know what the rule counts, so the failure is not kept.
        guard self.rules.isKnown else { return .unchanged }
        let failure = Failure(
            at: min(report.at, moment.now),
            worker: report.worker,
            sequence: report.sequence
        )
        guard !self.isKnown(failure) else { return .stale }
        if let error = report.error { self.lastError = error }
        self.insert(failure)
        self.dropFailuresOutsideTheWindow(at: moment.now)
        guard self.failures.count >= self.rules.threshold, self.hasEnoughReporters(isAlive) else {
            self.dropFailuresBeyondTheRule(isAlive)
            return .counted
        }
        self.open(at: moment, as: .tripped)
        return .tripped
    }

    mutating func callSucceeded(_ report: Report, at moment: Moment) -> ReportAction {
        self.endHoldIfOver(at: moment.now)
        guard report.epoch == self.epoch, self.hold == nil else { return .stale }
        switch self.state {
        case .closed: break
        case .open, .halfOpen, .unknown: return .stale
        }
        switch self.rules.trip {
        case .failures, .unknown: return .unchanged
        case .consecutiveFailures: break
        }
        let ended = min(report.at, moment.now)
        let kept = self.failures.filter { $0.at > ended }
        guard kept.count < self.failures.count else { return .unchanged }
        self.failures = kept
        self.forgottenUntil = max(self.forgottenUntil ?? ended, ended)
        return .counted
    }

    /// Opens the circuit for the time that the recovery rule says.
    mutating func open(at moment: Moment, as kind: CircuitEvent.Kind) {
        let time = self.rules.recoveryTime(afterTrips: self.tripsInARow, draw: moment.draw)
        let reason = kind == .tripped ? self.tripReason : self.lastError
        self.tripsInARow = Int(clamping: Int64(self.tripsInARow).addingSaturating(1))
        self.move(to: .open(until: moment.now.adding(time)), at: moment.now, as: kind, reason: reason)
    }

    private var tripReason: String {
        let count = self.failures.count
        let failures =
            switch self.rules.trip {
            case .failures(_, let window):
                "\(count) \(count == 1 ? "failure" : "failures") within \(Duration.microseconds(window).readable)"
            case .consecutiveFailures:
                count == 1 ? "1 failure" : "\(count) failures in a row"
            case .unknown:
                count == 1 ? "1 failure" : "\(count) failures"
            }
        guard let error = self.lastError else { return failures }
        return "\(failures), the last: \(error)"
    }

    private func isKnown(_ failure: Failure) -> Bool {
        // A failure and a success in the same microsecond: their order is unknown, so the failure counts.
        if let forgotten = self.forgottenUntil, failure.at < forgotten {
            switch self.rules.trip {
            case .failures, .unknown: break
            case .consecutiveFailures: return true
            }
        }
        return self.failures.contains { $0.worker == failure.worker && $0.sequence == failure.sequence }
    }

    private mutating func insert(_ failure: Failure) {
        // Reports come nearly in order: look from the end.
        let index = self.failures.lastIndex { $0.at <= failure.at }
        self.failures.insert(failure, at: index.map { $0 + 1 } ?? 0)
    }

    /// The window is inclusive: a failure exactly as old as the window still counts.
    private mutating func dropFailuresOutsideTheWindow(at now: StoreTime) {
        switch self.rules.trip {
        case .failures(_, let window):
            self.failures.removeAll { now.microseconds(since: $0.at) > window }
        case .consecutiveFailures, .unknown:
            break
        }
    }

    /// Keeps the newest failures, so that sparse old ones never stop a burst from tripping; and the newest of enough
    /// different reporters, so that neither one noisy worker nor one that crashes in a loop can hide the others.
    private mutating func dropFailuresBeyondTheRule(_ isAlive: (Int64) -> Bool) {
        let threshold = self.rules.threshold
        guard self.failures.count > threshold else { return }
        let living = Set(self.failures.map(\.worker)).filter { isAlive($0) }
        // All the dead are one reporter: nil.
        var reporters: Set<Int64?> = []
        var kept: [Failure] = []
        for failure in self.failures.reversed() {
            let reporter = living.contains(failure.worker) ? failure.worker : nil
            let isNewReporter =
                reporters.count < self.rules.minimumReporters && reporters.insert(reporter).inserted
            if isNewReporter || kept.count < threshold { kept.append(failure) }
        }
        self.failures = kept.reversed()
    }

    /// Reporters are the live workers among the failures, plus one for all the dead: a crash loop counts once.
    private func hasEnoughReporters(_ isAlive: (Int64) -> Bool) -> Bool {
        guard self.rules.minimumReporters > 1 else { return true }
        let workers = Set(self.failures.map(\.worker))
        let living = workers.count { isAlive($0) }
        return living + (living < workers.count ? 1 : 0) >= self.rules.minimumReporters
    }
}
