/// The instant at which an event is decided, and a random number in `0..<1` for jitter.
struct Moment: Hashable, Sendable {
    var now: StoreTime
    var draw: Double = 0
}

/// The report of an outcome, with the idempotency key by which it counts once, however often it is applied.
struct Report: Hashable, Sendable {
    var worker: WorkerID
    var sequence: Int64
    /// The epoch in which the call was let through.
    var epoch: Epoch
    /// When the call ended.
    var at: StoreTime
    var error: String?
    /// The outage that the provider declares, if it does.
    var outage: Outage?
    /// Whether an earlier attempt to commit the report may have succeeded.
    var isRetry = false
    /// How often the store's file had been replaced when the call ended: in a later file the epoch means nothing.
    var replacedFiles: Int64 = 0

    func inEpoch(_ epoch: Epoch) -> Report {
        var report = self
        report.epoch = epoch
        return report
    }
}

/// An outage that a provider declares, as with `Retry-After`.
struct Outage: Hashable, Sendable {
    /// For how many microseconds the provider asks to be left alone; nil if it named no time.
    var time: Int64?
}

/// Calls through a closed circuit.
extension Circuit {
    enum ReportAction: Hashable, Sendable {
        /// The report was late, or had been applied before: it changed nothing.
        ///
        /// The slot of an expired probe is freed all the same, and its expiry recorded.
        case stale
        /// The report changed no state and no count; the slot of a released probe is free.
        case unchanged
        /// The circuit stays as it is: the report counts, or the counted calls reach no rate, or too few workers
        /// report.
        case counted
        /// The circuit stays open for longer.
        case extended
        case tripped
        case reopened
        case closed
    }

    mutating func callFailed(
        _ report: Report,
        at moment: Moment,
        among kept: some KnownFailures,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> ReportAction {
        self.endHoldIfOver(at: moment.now)
        if let outage = report.outage, let action = self.outageDeclared(outage, by: report, at: moment) {
            return action
        }
        guard report.epoch == self.epoch, self.hold == nil else { return .stale }
        switch self.state {
        case .closed: break
        case .open, .halfOpen, .unknown: return .stale
        }
        // Without `keepsFailures` the failure gets no row: this release does not know the rule, or cells count the
        // calls.
        guard self.rules.keepsFailures || self.rules.isKnown && report.outage != nil else { return .unchanged }
        let failure = Failure(
            at: min(report.at, moment.now),
            worker: report.worker,
            sequence: report.sequence
        )
        guard !self.isForgotten(failure) else { return .stale }
        if report.isRetry, kept.contains(worker: failure.worker, sequence: failure.sequence) { return .stale }
        self.setLastError(of: report)
        let start = self.startOfCounting(at: moment.now)
        if let start, self.failureCount.hasExpired { self.change(.dropBefore(start)) }
        let isLate = [start, self.failureCount.droppedBefore].contains { $0.map { failure.at < $0 } ?? false }
        if !isLate, self.rules.keepsFailures {
            self.change(.insert(failure))
            self.failureCount.add(failure)
        }
        let outage = self.outage(of: report, failedAt: failure.at, at: moment.now)
        // Checked even if this failure is too old to count, because the rule may have changed since the last failure.
        guard outage != nil || self.failureCount.count >= self.rules.threshold else { return .counted }
        // One worker's declared outage is believed.
        if outage == nil, self.rules.minimumReporters > 1 {
            let new = isLate ? [] : [failure]
            let reporters = Reporters(
                kept.newestOfEachWorker() + new, minimum: self.rules.minimumReporters, isAlive)
            guard reporters.count >= self.rules.minimumReporters else {
                // Without the trip the rows would grow without end: only as many as the threshold stay, and the newest
                // of each reporter.
                let excess = max(0, self.failureCount.count - max(0, self.rules.threshold))
                let oldest = (kept.oldest(excess) + new).sorted().prefix(excess)
                for old in oldest where !reporters.needs(old) { self.change(.drop(old)) }
                return .counted
            }
        }
        self.open(at: moment, as: .tripped, by: outage, failedAt: failure.at)
        return .tripped
    }

    mutating func callSucceeded(_ report: Report, at moment: Moment) -> ReportAction {
        self.endHoldIfOver(at: moment.now)
        guard report.epoch == self.epoch, self.hold == nil else { return .stale }
        switch self.state {
        case .closed: break
        case .open, .halfOpen, .unknown: return .stale
        }
        guard self.rules.isConsecutive else { return .unchanged }
        let ended = min(report.at, moment.now)
        guard let oldest = self.failureCount.oldest, oldest <= ended else { return .unchanged }
        self.change(.dropBefore(ended.adding(1)))
        self.forgottenUntil = max(self.forgottenUntil ?? ended, ended)
        return .counted
    }

    /// Opens the circuit for the time of the declared outage, or else for the time of the recovery rule.
    ///
    /// - Parameters:
    ///   - reason: the reason, if neither a declared outage nor a number of failures opens the circuit.
    ///   - rate: the rate that was reached; nil if none was.
    mutating func open(
        at moment: Moment, as kind: CircuitEvent.Kind, by outage: Outage?, failedAt: StoreTime, reason: String? = nil,
        rate: ReachedRate? = nil
    ) {
        let declared = outage?.time.map { max(moment.now, failedAt.adding(self.rules.outageTime($0))) }
        // A probe's outage that is over already says only that the probe has failed: without the rule's time each of
        // the next calls would be a probe.
        let end =
            declared.flatMap { kind == .reopened && $0 <= moment.now ? nil : $0 }
            ?? moment.now.adding(self.rules.recoveryTime(afterTrips: self.tripsInARow, draw: moment.draw))
        let reason =
            reason ?? outage.map(self.outageReason) ?? (kind == .tripped ? self.describedFailures : self.lastError)
        self.tripsInARow = Int(clamping: Int64(self.tripsInARow).addingSaturating(1))
        var countedFailures: Int64 = 0
        if kind == .tripped {
            self.trippedSince = moment.now
            let failures = outage == nil ? Int64(self.failureCount.count) : nil
            self.trip = Trip(
                reason: reason, failed: rate?.counted.bad ?? failures, calls: rate?.counted.calls)
            countedFailures =
                switch rate {
                case .failed(let calls): calls.bad
                // Slow calls may have succeeded.
                case .slow: 0
                // The failure that trips the circuit is counted after this transaction.
                case nil: max(0, (failures ?? 0).subtractingSaturating(1))
                }
        }
        self.move(
            to: .open(until: end), at: moment.now, as: kind, reason: reason, countedFailures: countedFailures)
    }

    private var describedFailures: String {
        let count = self.failureCount.count
        let failures =
            switch self.rules.trip.kind {
            case .failures(_, let window):
                "\(count) \(count == 1 ? "failure" : "failures") within \(window.readable)"
            case .consecutiveFailures:
                count == 1 ? "1 failure" : "\(count) failures in a row"
            case .failureRate, .unknown:
                count == 1 ? "1 failure" : "\(count) failures"
            }
        guard let error = self.lastError else { return failures }
        return "\(failures), the last: \(error)"
    }

    /// A declared outage without a text has nothing to do with the error of an earlier failure.
    mutating func setLastError(of report: Report) {
        if report.error != nil || report.outage != nil { self.lastError = report.error }
    }

    /// Whether a success has forgotten the failure already.
    private func isForgotten(_ failure: Failure) -> Bool {
        // A failure and a success in the same microsecond: their order is unknown, so the failure counts.
        self.rules.isConsecutive && self.forgottenUntil.map { failure.at < $0 } ?? false
    }
}

/// Outages that providers declare.
extension Circuit {
    /// How much later than the circuit's own end a declared outage must end to extend it, in microseconds.
    ///
    /// Many calls get the same answer of a provider, each with its own delay: each of them would extend the outage.
    static let outageTolerance: Int64 = 1_000_000

    /// Applies a declared outage, also if the circuit has changed since the call was admitted.
    ///
    /// An outcome without an outage counts only in its own epoch. To change the circuit in another epoch, the outage
    /// must end in the future, and the call must have ended after `clearedAt`.
    ///
    /// - Returns: nil if the circuit is closed and still in the call's epoch: there the outage counts like a failure.
    mutating func outageDeclared(_ outage: Outage, by report: Report, at moment: Moment) -> ReportAction? {
        self.endHoldIfOver(at: moment.now)
        guard self.hold == nil, self.believesOutage(of: report) else { return .stale }
        let now = moment.now
        let failedAt = min(report.at, now)
        let end = outage.time.map { failedAt.adding(self.rules.outageTime($0)) }
        switch self.state {
        case .closed:
            if report.epoch == self.epoch { return nil }
            guard let end, end > now, self.rules.isKnown else { return .stale }
            self.setLastError(of: report)
            self.open(at: moment, as: .tripped, by: outage, failedAt: failedAt)
            return .tripped
        case .open(let until):
            guard let end, end > now, end > until.adding(Self.outageTolerance) else { return .unchanged }
            self.setLastError(of: report)
            // A new epoch: by it the links, and a restoration after a loss, tell that this state is the later one.
            self.enter(.open(until: end), since: self.since, epochAt: now)
            self.record(.extended, from: self.word, reason: self.outageReason(outage))
            return .extended
        case .halfOpen:
            guard let end, end > now else { return .stale }
            self.setLastError(of: report)
            self.open(at: moment, as: .reopened, by: outage, failedAt: failedAt)
            return .reopened
        case .unknown: return .stale
        }
    }

    /// Whether a declared outage is news to the circuit; true, too, for a report without an outage.
    ///
    /// It is news if the call is of the current epoch, or ended after the circuit last started over.
    func believesOutage(of report: Report) -> Bool {
        guard report.outage != nil, report.epoch != self.epoch else { return true }
        if let cleared = self.clearedAt, report.at < cleared { return false }
        return self.state != .closed || report.at >= self.since
    }

    /// The report's outage; nil if the report is committed again after the outage's time was over.
    func outage(of report: Report, failedAt: StoreTime, at now: StoreTime) -> Outage? {
        guard let outage = report.outage, report.isRetry else { return report.outage }
        let time = outage.time.map(self.rules.outageTime) ?? self.rules.recovery.timeout.saturatingMicroseconds
        return now < failedAt.adding(time) ? outage : nil
    }

    /// The start of the reason of each event by which a declared outage opens the circuit, or keeps it open for longer.
    static let outageReasonStart = "the service said that it is down"

    func outageReason(_ outage: Outage) -> String {
        var said = Self.outageReasonStart
        if let named = outage.time.map({ max(0, $0) }) {
            said += " for \(Duration.microseconds(named).readable)"
            let time = self.rules.outageTime(named)
            if time < named { said += ", cut to \(Duration.microseconds(time).readable)" }
        }
        return self.lastError.map { "\(said): \($0)" } ?? said
    }
}
