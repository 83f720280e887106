#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes public events of stored ones.
extension CircuitEvent {
    /// The public event of a stored one.
    init(_ stored: StoredEvent, _ isOwn: (WorkerID) -> Bool, _ date: (StoreTime) -> Date) {
        self.init(
            id: stored.id,
            circuit: stored.circuit,
            kind: stored.transition.kind,
            at: date(stored.at),
            from: stored.transition.from,
            to: stored.transition.to,
            reason: stored.transition.reason,
            worker: stored.worker?.name,
            pid: stored.worker?.pid,
            by: stored.by,
            isOwn: stored.worker.map { isOwn($0.id) } ?? false,
            failed: stored.ended.map { UInt64(clamping: $0.failed) },
            refused: stored.ended.map { UInt64(clamping: $0.refused) },
            subject: stored.transition.subject
        )
    }
}
