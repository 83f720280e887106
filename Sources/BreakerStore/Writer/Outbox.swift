import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps reports that could not be committed, and notes on the store itself, until they can be committed.
final class Outbox: Sendable {
    private struct State {
        var reports: [PendingReport] = []
        var notes: [StoreNote] = []
    }

    /// At this number the oldest reports are dropped, a thousand at a time: the newest reports count most.
    private static let maxReports = 10_000
    private static let droppedAtOnce = 1_000
    /// If notes repeatedly can't be written, only the newest are kept.
    private static let maxNotes = 100

    private let state = Mutex(State(), rank: .outbox)
    private let replaced = Atomic<Int64>(0)

    /// How often the store's file was replaced.
    var replacedFiles: Int64 { self.replaced.load(ordering: .relaxed) }

    func keep(_ report: PendingReport) {
        var report = report
        self.state.withLock {
            // The file was replaced before this caller learned that its report could not be committed.
            if let failure = report.report.failure, failure.replacedFiles < self.replacedFiles {
                report.report.forgetEpoch()
            }
            if $0.reports.count >= Self.maxReports { $0.reports.removeFirst(Self.droppedAtOnce) }
            $0.reports.append(report)
        }
    }

    /// Another file has taken the lost one's place: the epochs of the lost file mean nothing there.
    func fileReplaced() {
        self.state.withLock { state in
            self.replaced.add(1, ordering: .relaxed)
            for index in state.reports.indices { state.reports[index].report.forgetEpoch() }
        }
    }

    /// Removes and returns the reports, oldest first.
    func drainReports() -> [PendingReport] {
        self.state.withLock { state in
            defer { state.reports.removeAll() }
            return state.reports
        }
    }

    /// Keeps notes for the history.
    func append(_ notes: [StoreNote]) { self.state.withLock { $0.notes += notes } }

    /// Keeps notes again that could not be written, before all newer ones.
    func putBack(_ notes: [StoreNote]) { self.state.withLock { $0.notes = (notes + $0.notes).suffix(Self.maxNotes) } }

    func drainNotes() -> [StoreNote] {
        self.state.withLock { state in
            defer { state.notes.removeAll() }
            return state.notes
        }
    }

    /// Keeps a note, for the new file's history, that a broken file was quarantined.
    func appendQuarantine(_ name: String) {
        let reason = "the file was damaged; it is kept as \(Self.fileName(name))"
        self.append([StoreNote(transition: Transition(kind: .quarantined, reason: reason))])
    }

    static func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Keeps two notes for the history: that the file could not be used, and that it can be used again.
    func append(_ loss: StoreLife.Loss, endedAt wallTime: Date) {
        let seconds = max(0, wallTime.timeIntervalSince(loss.since))
        let time = Duration(saturatingMicroseconds: seconds * 1_000_000).readable
        self.append([
            StoreNote(transition: Transition(kind: .degraded, reason: loss.error.message)),
            StoreNote(transition: Transition(kind: .restored, reason: "after \(time)")),
        ])
    }
}

/// A report that could not be committed.
struct PendingReport: Sendable {
    let circuit: SharedCircuit
    var report: OutcomeReport
    /// When the call ended, as uptime: the clock offset known then may differ from the file's.
    let uptime: Uptime
}
