@testable import BreakerStore

extension Rules {
    /// Rules with all times in microseconds.
    init(
        trip: TripRule, recovery: Int64, multiplier: Double, cap: Int64, jitter: Double, probeLimit: Int,
        successesToClose: Int, lease: Int64, minimumReporters: Int
    ) {
        func time(_ microseconds: Int64) -> Duration { Duration(wholeMicroseconds: microseconds) }
        self.init(
            CircuitBreaker.Config(
                name: "", trip: trip,
                recovery: RecoveryRule(
                    timeout: time(recovery), multiplier: multiplier, cap: time(cap), jitter: jitter,
                    outageCap: time(cap)),
                probes: ProbeRule(limit: probeLimit, successesToClose: successesToClose, lease: time(lease)),
                minimumReporters: minimumReporters))
    }

    var timeout: Int64 {
        get { self.recovery.timeout.saturatingMicroseconds }
        set { self.recovery.timeout = Duration(wholeMicroseconds: newValue) }
    }

    var cap: Int64 {
        get { self.recovery.cap.saturatingMicroseconds }
        set { self.recovery.cap = Duration(wholeMicroseconds: newValue) }
    }

    var lease: Int64 { self.probes.lease.saturatingMicroseconds }

    /// Round numbers, in microseconds, that a test changes where it needs others.
    static func forTests(_ trip: TripRule = .failures(3, window: 1_000)) -> Rules {
        Rules(
            trip: trip,
            recovery: 500,
            multiplier: 2,
            cap: 10_000,
            jitter: 0,
            probeLimit: 2,
            successesToClose: 2,
            lease: 100,
            minimumReporters: 1
        )
    }
}

extension TripRule {
    static func failures(_ count: Int, window: Int64) -> TripRule {
        .failures(count, within: Duration(wholeMicroseconds: window))
    }
}

extension StoreTime {
    init(_ microseconds: Int64) { self.init(microseconds: microseconds) }
}

extension Moment {
    init(_ microseconds: Int64) { self.init(now: StoreTime(microseconds)) }
}

extension TestCircuit {
    /// A call that this circuit has admitted fails.
    mutating func fail(
        at ended: Int64,
        by worker: WorkerID = 1,
        _ sequence: Int64,
        reportedAt now: Int64? = nil,
        alive: Set<WorkerID>? = nil
    ) -> Circuit.ReportAction {
        let report = Report(worker: worker, sequence: sequence, epoch: self.epoch, at: StoreTime(ended), error: "E")
        return self.callFailed(report, at: Moment(now ?? ended)) { alive?.contains($0) ?? true }
    }

    /// A call that this circuit has admitted succeeds.
    mutating func succeed(at ended: Int64, reportedAt now: Int64? = nil) -> Circuit.ReportAction {
        let report = Report(worker: 1, sequence: -1, epoch: self.epoch, at: StoreTime(ended))
        return self.callSucceeded(report, at: Moment(now ?? ended))
    }

    mutating func arrive(
        at now: Int64, token: Int64, worker: WorkerID = 1, alive: Set<WorkerID>? = nil
    ) -> Circuit.Decision {
        self.callArrived(at: Moment(now), claiming: Circuit.Claim(token: token, worker: worker)) {
            alive?.contains($0) ?? true
        }
    }
}
