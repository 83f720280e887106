#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a database without changing a byte of it or of the files beside it, even while other processes use them.
///
/// How it reads depends on the files that are there (tried on SQLite 3.40.1):
/// - a log and a wal-index: through both, read-only;
/// - no log, or a log without frames: the database alone;
/// - a log without a usable wal-index: through a wal-index in this process's memory; otherwise SQLite would create or
///   rebuild the wal-index.
final class BystanderReader {
    let database: Database
    /// Whether SQLite's read lock protects a read from other processes' commits.
    ///
    /// If not, `read` compares the files' stamps before and after.
    private let isShared: Bool

    init(
        _ file: StoreFile, trustingIndex: Bool = true, acceptsOlder: Bool = false
    ) throws(BreakerStoreError) {
        // SQLite's own error would name neither the unreadable file nor the reason.
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
            message: "cannot read '\(file.log)': the log has more than \(Connection.maxPrivateFrames) pages and no "
                + "index that can be used; a service that opens the store rebuilds it",
            path: file.log
        )
    }

    /// Whether a reader reads the database through its log and the existing wal-index.
    static func sharesLog(_ file: StoreFile) -> Bool {
        (try? self.hasFrames(file)) == true && StoreFile.size(file.index) != nil
    }

    /// Whether the log has a whole header and frames.
    ///
    /// If the log has no frames but the wal-index names some, a connection that may not write the wal-index retries for
    /// ten seconds and then fails; so such a log is not read at all.
    private static func hasFrames(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        guard let log = try LogFile.at(file.log) else { return false }
        return log.hasFrames
    }

    /// Runs `body`; repeats it if another process has changed the files in a way that SQLite would not notice.
    ///
    /// - Parameters:
    ///   - acceptsOlder: whether a file of an older major version is accepted, and read through views.
    ///   - patience: how long to wait while another process recovers the wal-index, or removes the log.
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
                if acceptsOlder { try reader.database.connection.viewOlderTables() }
                let value = try body(reader.database)
                if reader.isShared || FileStamp(of: file) == before { return value }
                failure = nil
            } catch {
                failure = SQLiteCode.isLogTooLong(error.sqliteCode) ? Self.tooLong(file) : error
                if trustsIndex, let code = error.sqliteCode, SQLiteCode.isIndexUnusable(code) {
                    // A killed writer has left the wal-index half written, and only a process that writes rebuilds it.
                    trustsIndex = false
                    continue
                }
                if FileStamp(of: file) == before { break }
                // The change of the files may have caused the error.
                failure = nil
            }
        }
        throw failure
            ?? BreakerStoreError(code: .busy, message: "the file kept changing while it was read", path: file.path)
    }
}
