import Synchronization

/// Makes the idempotency keys of reports: pairs of worker id and sequence number, unique in the file.
final class ReportKeys: Sendable {
    private let worker = Atomic<Int64>(0)
    private let sequence = Atomic<Int64>(0)
    /// The process for which this one reports; 0 if it reports for itself.
    private let reporter = Atomic<Int64>(0)

    /// Sets the worker of all later keys: the row by which the file knows this process.
    func setWorker(_ worker: Worker) { self.worker.store(worker.id.rawValue, ordering: .relaxed) }

    /// The id of the worker whose keys are made now; 0 before the file is first opened.
    var currentWorker: WorkerID { WorkerID(self.worker.load(ordering: .relaxed)) }

    /// Makes all later keys under the number of another process (`RunningProcess.reporter`).
    ///
    /// - Parameter sequence: a random number, because other processes report under the same number.
    func setReporter(_ reporter: WorkerID, after sequence: Int64) {
        // Half of it, so that no later number overflows.
        self.sequence.store(sequence / 2, ordering: .relaxed)
        self.reporter.store(reporter.rawValue, ordering: .relaxed)
    }

    func next() -> (worker: WorkerID, sequence: Int64) {
        (self.currentReporter, self.sequence.add(1, ordering: .relaxed).newValue)
    }

    /// The reporter in the keys that are made now.
    var currentReporter: WorkerID {
        let reporter = self.reporter.load(ordering: .relaxed)
        return reporter == 0 ? self.currentWorker : WorkerID(reporter)
    }
}
