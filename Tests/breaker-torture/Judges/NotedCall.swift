/// One call of a process on a circuit, as its log tells and as the file counts its time.
struct NotedCall {
    /// Which process, in the order of their starts, and the id under which the file knows it.
    var process: Int
    var worker: Int64
    var lane: Int
    var number: Int
    var record: CallLog.Record
    /// In store time; the end is the process's where the call did not return.
    var start: Int64
    var end: Int64

    /// - Parameters:
    ///   - offset: what store time is ahead of the clock of the log.
    ///   - death: when the process was dead, by the clock of the log.
    init(
        _ record: CallLog.Record, process: Int, worker: Int64, lane: Int, number: Int, endsBy death: Int64,
        offset: Int64 = 0
    ) {
        (self.process, self.worker, self.lane, self.number) = (process, worker, lane, number)
        self.record = record
        self.start = record.clock.lowerBound + offset
        // What a process has begun has happened by its death, or never will. The store's thread frees a discarded slot
        // after the call.
        let isOver = record.isHealthy && record.outcome(of: .report) != .ignored
        self.end = (isOver ? record.clock.upperBound : death) + offset
    }

    /// Whether it returned while the store was healthy.
    var isAcknowledged: Bool { self.record.isHealthy }
    var what: CallLog.What { self.record.what }
    var isFailure: Bool { self.record.outcome == .failure }
    var isSuccess: Bool { self.record.outcome == .success }

    /// Whether it was written, and that acknowledged.
    var isCommit: Bool {
        guard self.isAcknowledged else { return false }
        switch self.what {
        case .record, .report: return self.isFailure
        case .reset, .holdOpen, .holdClosed, .release, .probe, .forget: return true
        case .register, .admit, .look, .permitted, .close: return false
        }
    }

    /// How the file knows a call: as the error of a failure, or as the operator.
    static func text(_ process: Int, _ lane: Int, _ number: Int) -> String { "\(process).\(lane).\(number)" }

    var text: String { Self.text(self.process, self.lane, self.number) }

    /// The text of the admission whose end the call reports.
    var admissionText: String { Self.text(self.process, self.lane, self.record.admission) }

    /// How the history tells of what an operator said; nil for other calls.
    var operation: String? {
        switch self.what {
        case .reset: "reset"
        case .holdOpen, .holdClosed: "held"
        case .release: "released"
        case .probe: "probeAllowed"
        case .forget: "forgotten"
        case .register, .admit, .report, .record, .look, .permitted, .close: nil
        }
    }
}
