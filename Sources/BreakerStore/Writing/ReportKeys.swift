import Synchronization

/// Makes keys that no other report in the file has.
final class ReportKeys: Sendable {
    private let worker = Atomic<Int64>(0)
    private let sequence = Atomic<Int64>(0)

    /// Makes keys of this worker from now on, by whose id the file knows this process.
    func take(_ worker: Worker) { self.worker.store(worker.id, ordering: .relaxed) }

    /// The worker whose keys are made now.
    var presentWorker: Int64 { self.worker.load(ordering: .relaxed) }

    func next() -> (worker: Int64, sequence: Int64) {
        (self.worker.load(ordering: .relaxed), self.sequence.add(1, ordering: .relaxed).newValue)
    }
}
