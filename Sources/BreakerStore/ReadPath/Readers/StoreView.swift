#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file as of one instant: a connection in a read transaction, the clock, and which workers live or are this
/// process.
package struct StoreView {
    let file: StoreFile
    let database: Database
    let clock: StoreClock
    let isAlive: (WorkerID) -> Bool
    let isOwn: (WorkerID) -> Bool
    let moment: ReadingMoment
    /// The file's incarnation; nil if the clock's row can't be read.
    let incarnation: Int64?
    /// The version of the file's schema.
    let schema: Int64

    /// Runs `body` with a view of a file through a connection to it, in a read transaction.
    static func of<Value>(
        _ file: StoreFile, _ database: Database, _ clock: StoreClock, isAlive: @escaping (WorkerID) -> Bool,
        isOwn: @escaping (WorkerID) -> Bool, _ body: (StoreView) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try database.snapshot { () throws(BreakerStoreError) in
            let row = try ClockRow.read(database)
            clock.follow(row)
            return try body(
                StoreView(
                    file: file, database: database, clock: clock, isAlive: isAlive, isOwn: isOwn,
                    moment: ReadingMoment(clock, isAlive: isAlive), incarnation: row?.incarnation,
                    schema: try database.connection.schemaVersion()))
        }
    }

    /// The counts on the board.
    var board: BoardView { BoardView(of: self.file, incarnation: self.incarnation, self.clock) }

    /// The rows of the workers that live.
    func livingRows() throws(BreakerStoreError) -> [(worker: Worker, since: StoreTime)] {
        try self.database.workers().filter { self.moment.isAlive($0.worker.id) }
    }

    /// How many workers live, and those among them that can't use the file.
    package func liveWorkers() throws(BreakerStoreError) -> LiveWorkers {
        LiveWorkers(try self.livingRows(), ofSchema: self.schema, of: self.file, on: self.board, self.clock)
    }

    /// The workers that live and have a row, with the circuits that they probe.
    package func workers() throws(BreakerStoreError) -> [WorkerSnapshot] {
        let rows = try self.livingRows()
        let degraded = LiveWorkers(rows, ofSchema: self.schema, of: self.file, on: self.board, self.clock).degraded
        return try rows.map { (row) throws(BreakerStoreError) in
            var worker = WorkerSnapshot(row.worker, since: self.moment.date(row.since))
            worker.probing = try self.database.circuitsProbed(by: row.worker.id)
            // The board may not show since when a worker is degraded: then it is degraded now.
            worker.degradedSince = degraded.first { $0.id == row.worker.id }.map { $0.since ?? self.now }
            return worker
        }
    }

    /// Reads a file without an open store, and without changing anything on the disk.
    static func ofFile<Value>(
        _ file: StoreFile,
        _ clock: any HostClock,
        patience: Duration = .zero,
        _ body: (StoreView) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        let locks = LockReader(file.lock)
        return try BystanderReader.read(file, acceptsOlder: true, patience: patience) {
            (database) throws(BreakerStoreError) in
            try StoreView.of(
                file, database, StoreClock(clock), isAlive: locks.isHeld, isOwn: { _ in false }, body)
        }
    }
}

/// Reads which bytes of a lock file are locked, and can't lock one.
private final class LockReader {
    /// Without a lock file no worker lives.
    private let file: OpenFile?

    init(_ path: String) { self.file = OpenFile(path, O_RDONLY) }

    func isHeld(_ worker: WorkerID) -> Bool {
        switch self.file {
        case .some(let file): LockFile.isHeldByAnother(file.descriptor, worker: worker)
        case .none: false
        }
    }
}
