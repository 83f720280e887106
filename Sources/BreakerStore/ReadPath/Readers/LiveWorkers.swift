#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The live workers of a store, and those among them that can't use its file.
///
/// Calls of the latter are decided by their in-memory fallbacks: the file does not show the state of these.
package struct LiveWorkers: Sendable, Hashable {
    /// A live worker that can't use the file.
    package struct Degraded: Sendable, Hashable {
        package var id: WorkerID
        /// The worker's row; nil if the worker could not use the file from its start, and so has none.
        package var worker: WorkerSnapshot?
        /// Since when the worker is degraded; nil if the board does not have it.
        package var since: Date?
        /// Why the worker is degraded; nil if neither the lock file nor the board has it.
        package var reason: BreakerStoreError.Code?
        /// Whether the version in the worker's row is that of a release that is too old for the file's schema.
        fileprivate var isTooOld = false

        /// Whether the worker runs a release that can't use the file: then no hold and no reset reaches it.
        ///
        /// The worker has shown this as its reason, or its row shows it.
        package var isOutside: Bool { self.reason == .newerSchema || self.isTooOld }
    }

    /// How many workers live, those without a row included.
    package var count: Int
    /// Ordered by when they were degraded, those without a known time last.
    package var degraded: [Degraded]
    /// The moment of this reading, converted like the other dates.
    package var now: Date

    /// Combines the workers' rows, the lock file and the board.
    ///
    /// - Parameters:
    ///   - living: the rows of the workers that live.
    ///   - schema: the file's schema. A worker of an older major release is too old only once the file has been
    ///     migrated to this release's major schema.
    ///   - file: the store's file, beside which the lock file has the bytes of degraded workers.
    ///   - board: the board, on which degraded workers publish since when; nil if it is not read.
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
            !Versions.isOlderMajor(schema: schema) && worker.version.map(Versions.isOfOlderMajor) ?? false
        }
        let (bytes, entries) = (DegradedBytes.found(at: file.lock), board?.degraded() ?? [])
        // The usual case. Without this, the dictionaries below would cost the operator's tool a megabyte.
        guard !bytes.isEmpty || !entries.isEmpty else {
            self.degraded = living.filter { isTooOld($0.worker) }.map {
                Degraded(id: $0.worker.id, worker: snapshot($0), isTooOld: true)
            }
            return
        }
        let locked = Dictionary(bytes.map { ($0.worker, $0) }) { first, _ in first }
        let published = Dictionary(entries.map { ($0.worker, $0) }) { first, _ in first }
        var degraded = living.compactMap { row -> Degraded? in
            let (bytes, entry) = (locked[row.worker.id], published[row.worker.id])
            let found = Degraded(
                id: row.worker.id, worker: snapshot(row), since: entry.map { date(clock.time(of: $0.since)) },
                reason: bytes?.reason ?? entry?.reason, isTooOld: isTooOld(row.worker))
            return bytes != nil || entry != nil || found.isOutside ? found : nil
        }
        let known = Set(living.map(\.worker.id))
        let others = bytes.filter { !known.contains($0.worker) }
        degraded += others.map { Degraded(id: $0.worker, reason: $0.reason) }
        self.count += others.count
        self.degraded = degraded.sorted { ($0.since ?? .distantFuture, $0.id) < ($1.since ?? .distantFuture, $1.id) }
    }

    /// How many workers have locked a byte in the lock file beside a store's path, to show that they can't use the
    /// store's file.
    ///
    /// For a missing file, which has no rows of workers.
    package static func countOfDegraded(at path: String) -> Int {
        (try? StoreFile(foreseeing: path)).map { DegradedBytes.found(at: $0.lock).count } ?? 0
    }

    /// The degraded workers that run a release that can't use the file.
    package var outside: [Degraded] { self.degraded.filter(\.isOutside) }
}

extension WorkerSnapshot {
    init(_ worker: Worker, since: Date) {
        self.init(id: worker.id.rawValue, name: worker.name, pid: worker.pid, version: worker.version, since: since)
    }
}
