import Synchronization

/// Keys that no other report in the file has.
final class ReportKeys: Sendable {
    private let worker = Atomic<Int64>(0)
    private let sequence = Atomic<Int64>(0)

    /// The file knows this process as this worker from now on.
    func take(_ worker: Worker) { self.worker.store(worker.id, ordering: .relaxed) }

    func next() -> (worker: Int64, sequence: Int64) {
        (self.worker.load(ordering: .relaxed), self.sequence.add(1, ordering: .relaxed).newValue)
    }
}
