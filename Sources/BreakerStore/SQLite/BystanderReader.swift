#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a database without changing a byte of it or of its neighbours, whoever has it open.
///
/// Which way is right depends on the files that are there (tried on SQLite 3.40.1):
/// - a log and a wal-index: through both, read-only;
/// - no log, or one without frames: the file alone;
/// - a log without a wal-index, or with one that can't be used as it is: through an index in this process's memory, for
///   SQLite would write the file.
final class BystanderReader {
    let database: Database
    /// Whether commits of other processes do no harm to a read that is under way.
    private let isShared: Bool

    init(
        _ file: StoreFile, trustingIndex: Bool = true, acceptsOlder: Bool = false
    ) throws(BreakerStoreError) {
        // SQLite's own error would not say which file can't be read, and why.
        for path in [file.path, file.log, file.index] where StoreFile.size(path) != nil {
            try StoreFile.requireReadable(path)
        }
        let hasFrames = try Self.hasFrames(file)
        let access: Connection.Access =
            if !hasFrames {
                .immutable
            } else if trustingIndex, StoreFile.size(file.index) != nil {
                .sharedReader
            } else {
                .privateReader
            }
        self.database = Database(
            try Connection(path: file.path, access: access, acceptsOlder: acceptsOlder))
        self.isShared = access == .sharedReader
    }

    private static func tooLong(_ file: StoreFile) -> BreakerStoreError {
        BreakerStoreError(
            code: .unavailable,
            message: "cannot read '\(file.log)': the log has more than \(Connection.mostPrivateFrames) pages and no "
                + "index that can be used; let a service open the store, or move all its files aside",
            path: file.log
        )
    }

    /// Whether the file is to be read through its log and its wal-index.
    static func sharesLog(_ file: StoreFile) -> Bool {
        (try? self.hasFrames(file)) == true && StoreFile.size(file.index) != nil
    }

    /// Without a whole header and frames, a reader that may not write the wal-index would try for ten seconds to find
    /// in the log what the index promises.
    private static func hasFrames(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        guard let log = try LogFile.at(file.log) else { return false }
        return log.hasFrames
    }

    /// Reads what `body` reads, again if somebody has changed the files meanwhile in a way that this way of reading
    /// does not notice.
    ///
    /// - Parameters:
    ///   - acceptsOlder: whether a file of an older major version will do, of which no row is read.
    ///   - patience: how long to wait while another process recovers the wal-index, or takes the log away.
    static func read<Value>(
        _ file: StoreFile,
        acceptsOlder: Bool = false,
        patience: Duration = .zero,
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        var failure: BreakerStoreError?
        var trustsIndex = true
        for _ in 0..<5 {
            let before = FileStamp(of: file)
            do throws(BreakerStoreError) {
                let reader = try BystanderReader(file, trustingIndex: trustsIndex, acceptsOlder: acceptsOlder)
                try reader.database.connection.waitWhenBusy(patience)
                let value = try body(reader.database)
                if reader.isShared || FileStamp(of: file) == before { return value }
                failure = nil
            } catch {
                failure = SQLiteCode.isOfALongLog(error.sqliteCode) ? Self.tooLong(file) : error
                if trustsIndex, let code = error.sqliteCode, SQLiteCode.isOfTheIndex(code) {
                    // A writer was killed while it wrote the index, and only a process that writes the database makes
                    // the index anew.
                    trustsIndex = false
                    continue
                }
                if FileStamp(of: file) == before { break }
                // The error may come from the change of the files alone.
                failure = nil
            }
        }
        throw failure
            ?? BreakerStoreError(code: .busy, message: "the file kept changing while it was read", path: file.path)
    }
}
