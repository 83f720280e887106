import Synchronization

/// Makes the idempotency keys of reports: pairs of worker id and sequence number, unique in the file.
final class ReportKeys: Sendable {
    private let worker = Atomic<Int64>(0)
    private let sequence = Atomic<Int64>(0)

    /// Sets the worker of all later keys: the row by which the file knows this process.
    func setWorker(_ worker: Worker) { self.worker.store(worker.id.rawValue, ordering: .relaxed) }

    /// The id of the worker whose keys are made now; 0 before the file is first opened.
    var currentWorker: WorkerID { WorkerID(self.worker.load(ordering: .relaxed)) }

    func next() -> (worker: WorkerID, sequence: Int64) {
        (self.currentWorker, self.sequence.add(1, ordering: .relaxed).newValue)
    }
}
