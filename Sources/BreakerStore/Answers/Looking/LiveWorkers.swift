#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The live workers of a store, and those among them that can't use its file.
///
/// Each of the latter guards its circuits in memory: the file does not say what its calls meet.
package struct LiveWorkers: Sendable, Hashable {
    /// A live worker that can't use the file.
    package struct Degraded: Sendable, Hashable {
        package var id: Int64
        /// Nil if the file has no row of the worker, which could not use the file from its start.
        package var worker: WorkerSnapshot?
        /// Nil if the board does not say so.
        package var since: Date?
        /// Nil if neither the lock file nor the board says so.
        package var reason: BreakerStoreError.Code?
        /// Whether the worker runs a release that can use only files of an older schema than this one has.
        fileprivate var isTooOld = false

        /// Whether the worker runs a release that can't use the file: then it obeys no hold and no reset.
        package var isOutside: Bool { self.reason == .newerSchema || self.isTooOld }
    }

    /// How many workers live, those without a row included.
    package var count: Int
    /// Ordered by when they were degraded, those without a known time last.
    package var degraded: [Degraded]
    /// The moment of this reading, converted like the other dates.
    package var now: Date

    /// Combines what rows, lock file and board say.
    ///
    /// - Parameters:
    ///   - living: the rows of the workers that live.
    ///   - schema: the file's schema; a worker of any release can use an older one.
    ///   - file: the store's file, beside which the lock file has the bytes of degraded workers.
    ///   - board: the board, on which degraded workers note since when; nil if it is not read.
    ///   - clock: the clock of the rows and of the board.
    init(
        _ living: [(worker: Worker, since: StoreTime)], ofSchema schema: Int64, of file: StoreFile,
        on board: BoardView?, _ clock: StoreClock
    ) {
        let date = clock.dates()
        self.now = date(clock.now)
        self.count = living.count
        func snapshot(_ row: (worker: Worker, since: StoreTime)) -> WorkerSnapshot {
            WorkerSnapshot(row.worker, since: date(row.since))
        }
        func isTooOld(_ worker: Worker) -> Bool {
            schema >= Schema.oldestRead && worker.version.map(Versions.isOfOlderMajor) ?? false
        }
        let (bytes, notes) = (DegradedBytes.found(at: file.lock), board?.degraded() ?? [])
        // Mostly so. A dictionary would take the operator's tool a megabyte.
        guard !bytes.isEmpty || !notes.isEmpty else {
            self.degraded = living.filter { isTooOld($0.worker) }.map {
                Degraded(id: $0.worker.id, worker: snapshot($0), isTooOld: true)
            }
            return
        }
        let locked = Dictionary(bytes.map { ($0.worker, $0) }) { first, _ in first }
        let noted = Dictionary(notes.map { ($0.worker, $0) }) { first, _ in first }
        var degraded = living.compactMap { row -> Degraded? in
            let (bytes, note) = (locked[row.worker.id], noted[row.worker.id])
            let found = Degraded(
                id: row.worker.id, worker: snapshot(row), since: note.map { date(clock.time(of: $0.since)) },
                reason: bytes?.reason ?? note?.reason, isTooOld: isTooOld(row.worker))
            return bytes != nil || note != nil || found.isOutside ? found : nil
        }
        let known = Set(living.map(\.worker.id))
        let others = bytes.filter { !known.contains($0.worker) }
        degraded += others.map { Degraded(id: $0.worker, reason: $0.reason) }
        self.count += others.count
        self.degraded = degraded.sorted { ($0.since ?? .distantFuture, $0.id) < ($1.since ?? .distantFuture, $1.id) }
    }

    /// How many workers show, in the lock file beside a store's path, that they can't use the store's file.
    ///
    /// For a file that is not there, and so has no rows.
    package static func countOfDegraded(at path: String) -> Int {
        (try? StoreFile(foreseeing: path)).map { DegradedBytes.found(at: $0.lock).count } ?? 0
    }

    /// The workers among the degraded that run a release that can't use the file.
    package var outside: [Degraded] { self.degraded.filter(\.isOutside) }
}

extension WorkerSnapshot {
    init(_ worker: Worker, since: Date) {
        self.init(id: worker.id, name: worker.name, pid: worker.pid, version: worker.version, since: since)
    }
}
