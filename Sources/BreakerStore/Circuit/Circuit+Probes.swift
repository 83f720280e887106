/// Admits calls, and tracks the probes of the half-open state.
extension Circuit {
    /// The answer to a call that asks for admission, as far as it can be given without changing the circuit.
    enum Answer: Hashable, Sendable {
        case proceed
        /// Let through uncounted: held closed, or in a state or under a rule that this release does not know.
        case uncounted
        case refuse(RefusalCause, until: StoreTime?)
        /// Let through by an observing circuit, where an enforcing one would refuse.
        case observe(until: StoreTime?)
        /// A probe is due: the call is let through if it gets a slot.
        case claim
    }

    /// The decision about a call, which may have claimed a probe's slot.
    enum Decision: Hashable, Sendable {
        case proceed(epoch: Epoch)
        case uncounted
        case observe
        case probe(token: Int64, epoch: Epoch)
        case refuse(RefusalCause, until: StoreTime?)
    }

    /// The worker that asks for a slot, and the token of its probe.
    struct Claim: Hashable, Sendable {
        var token: Int64
        var worker: WorkerID
        var prober: Prober?
    }

    /// The answer to a call at `now`; changes nothing.
    func answer(at now: StoreTime, isAlive: (WorkerID) -> Bool) -> Answer {
        if let hold = self.hold(at: now) {
            switch hold.state {
            case .open: return .refuse(.held, until: hold.until)
            case .closed: return .uncounted
            }
        }
        switch self.state {
        case .closed:
            return self.rules.isKnown ? .proceed : .uncounted
        case .unknown:
            return .uncounted
        case .open(let until):
            if now >= until { return .claim }
            return self.rules.mode == .observing ? .observe(until: until) : .refuse(.open, until: until)
        case .halfOpen:
            let probes = self.liveProbes(at: now, isAlive: isAlive)
            if probes.count < self.probeLimit { return .claim }
            return self.rules.mode == .observing
                ? .observe(until: probes.map(\.leaseEnds).min()) : .refuse(.probing, until: nil)
        }
    }

    /// Decides about a call, and claims a slot for it if a probe is due.
    mutating func callArrived(
        at moment: Moment,
        claiming claim: Claim,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> Decision {
        self.endHoldIfOver(at: moment.now)
        switch self.answer(at: moment.now, isAlive: isAlive) {
        case .proceed: return .proceed(epoch: self.epoch)
        case .uncounted: return .uncounted
        case .observe: return .observe
        case .refuse(let cause, let until): return .refuse(cause, until: until)
        case .claim: break
        }
        switch self.state {
        case .open, .closed, .unknown: self.move(to: .halfOpen(successes: 0), at: moment.now, as: .probing)
        case .halfOpen: self.sweepProbes(at: moment.now, isAlive: isAlive)
        }
        self.probes.append(
            Probe(
                token: claim.token,
                worker: claim.worker,
                since: moment.now,
                leaseEnds: moment.now.adding(self.rules.probes.lease.saturatingMicroseconds),
                prober: claim.prober
            )
        )
        return .probe(token: claim.token, epoch: self.epoch)
    }

    /// Applies the report of a probe that succeeded; closes the circuit after enough of them.
    mutating func probeSucceeded(token: Int64, epoch: Epoch, at moment: Moment) -> ReportAction {
        guard let earlier = self.endProbe(token: token, epoch: epoch, at: moment.now) else { return .stale }
        let successes = Int(clamping: Int64(earlier).addingSaturating(1))
        guard successes >= self.rules.probes.successesToClose else {
            self.state = .halfOpen(successes: successes)
            return .counted
        }
        self.forgetFailures()
        self.tripsInARow = 0
        self.clearedAt = moment.now
        self.move(to: .closed, at: moment.now, as: .closed)
        return .closed
    }

    /// Applies the report of a probe that failed; opens the circuit again, unless the rule tolerates the failure.
    mutating func probeFailed(token: Int64, _ report: Report, at moment: Moment) -> ReportAction {
        guard self.endProbe(token: token, epoch: report.epoch, at: moment.now) != nil else {
            // The probe lost its slot, but what it heard of the provider is news all the same.
            return report.outage.flatMap { self.outageDeclared($0, by: report, at: moment) } ?? .stale
        }
        self.setLastError(of: report)
        // A service that says that it is down is not tried further, whatever the rule tolerates.
        if report.outage == nil, self.countProbeFailureIfTolerated() { return .counted }
        self.open(at: moment, as: .reopened, by: report.outage, failedAt: min(report.at, moment.now))
        return .reopened
    }

    /// Frees the slot of a probe without a verdict: it was ignored, cancelled or discarded.
    mutating func probeReleased(token: Int64, epoch: Epoch, at moment: Moment) -> ReportAction {
        self.endProbe(token: token, epoch: epoch, at: moment.now) == nil ? .stale : .unchanged
    }

    /// Applies the report of a call without an admission; claims a slot first if a probe is due.
    mutating func recorded(
        _ report: Report,
        failed: Bool,
        claiming claim: Claim,
        at moment: Moment,
        among kept: some KnownFailures,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> ReportAction {
        guard report.epoch == self.epoch else { return .stale }
        switch self.callArrived(at: moment, claiming: claim, isAlive: isAlive) {
        case .proceed:
            return failed
                ? self.callFailed(report, at: moment, among: kept, isAlive: isAlive)
                : self.callSucceeded(report, at: moment)
        case .probe(let token, let epoch):
            return failed
                ? self.probeFailed(token: token, report.inEpoch(epoch), at: moment)
                : self.probeSucceeded(token: token, epoch: epoch, at: moment)
        case .uncounted, .observe, .refuse:
            guard failed, report.outage != nil else { return .stale }
            return self.callFailed(report, at: moment, among: kept, isAlive: isAlive)
        }
    }

    /// Extends the lease of a probe that still has its slot; returns false if the slot is gone.
    ///
    /// A lease that is over stays over, whether or not another probe has taken the slot.
    mutating func probeRenewed(token: Int64, epoch: Epoch, at now: StoreTime) -> Bool {
        guard epoch == self.epoch,
            let index = self.probes.firstIndex(where: { $0.token == token && now < $0.leaseEnds })
        else { return false }
        let end = now.adding(self.rules.probes.lease.saturatingMicroseconds)
        self.probes[index].leaseEnds = max(end, self.probes[index].leaseEnds)
        return true
    }

    /// The probes that hold a slot: their lease is not over, and their workers are alive.
    func liveProbes(at now: StoreTime, isAlive: (WorkerID) -> Bool) -> [Probe] {
        self.probes.filter { now < $0.leaseEnds && isAlive($0.worker) }
    }

    /// Frees the slots of dead workers, and of probes whose lease is over.
    mutating func sweepProbes(at now: StoreTime, isAlive: (WorkerID) -> Bool) {
        self.sweepDeadProbes(isAlive: isAlive)
        for probe in self.probes where probe.leaseEnds <= now {
            self.recordLoss(of: probe, as: .probeExpired, "did not report within \(probe.lease.readable)")
        }
        self.probes.removeAll { $0.leaseEnds <= now }
    }

    /// Frees the slots of dead workers.
    mutating func sweepDeadProbes(isAlive: (WorkerID) -> Bool) {
        for probe in self.probes where !isAlive(probe.worker) {
            self.recordLoss(of: probe, as: .proberDied, "its process ended before it reported")
        }
        self.probes.removeAll { !isAlive($0.worker) }
    }

    /// Frees the probe's slot; returns how many probes succeeded before it, or nil if the report is late.
    ///
    /// A report after the lease is stale, whether or not another probe has taken the slot.
    private mutating func endProbe(token: Int64, epoch: Epoch, at now: StoreTime) -> Int? {
        guard epoch == self.epoch, let index = self.probes.firstIndex(where: { $0.token == token }) else { return nil }
        let probe = self.probes.remove(at: index)
        guard now < probe.leaseEnds else {
            let late = Duration.microseconds(
                max(0, now.microseconds.subtractingSaturating(probe.leaseEnds.microseconds)))
            self.recordLoss(
                of: probe, as: .probeExpired, "reported \(late.readable) after its \(probe.lease.readable) were over")
            return nil
        }
        switch self.state {
        case .halfOpen(let successes): return successes
        case .closed, .open, .unknown: return nil
        }
    }

    /// Adds to the history that a probe has lost its slot.
    private mutating func recordLoss(of probe: Probe, as kind: CircuitEvent.Kind, _ reason: String) {
        self.record(kind, from: self.word, reason: reason, subject: probe.prober?.description)
    }
}

/// Probe rules with rounds: more probes at a time after each round, and some that may fail.
extension Circuit {
    /// How many probes may run at a time now.
    var probeLimit: Int {
        switch self.state {
        case .halfOpen(let successes): self.rules.probes.limit(after: successes)
        case .closed, .open, .unknown: self.rules.probes.limit
        }
    }

    /// Counts a failed probe if the rule tolerates it; returns false if the circuit must open again.
    mutating func countProbeFailureIfTolerated() -> Bool {
        let failures = Int(clamping: Int64(self.probeFailures).addingSaturating(1))
        guard self.rules.probes.tolerates(failures: failures) else { return false }
        self.probeFailures = failures
        return true
    }
}
