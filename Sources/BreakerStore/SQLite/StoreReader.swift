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
/// - a log without a wal-index, or with one that can't be used as it is: a private copy, for SQLite would have to build
///   the index.
final class StoreReader {
    let database: Database
    /// Whether a commit by others during a read does no harm to it.
    private let isShared: Bool
    /// The directory of a private copy, removed with the reader.
    private let copy: String?

    init(_ file: StoreFile, trustingIndex: Bool = true) throws(BreakerStoreError) {
        // SQLite would say no more than that it can't open it.
        for path in [file.path, file.log, file.index] where StoreFile.size(path) != nil {
            try StoreFile.requireReadable(path)
        }
        var path = file.path
        var access = Connection.Access.immutable
        var copy: String?
        let hasFrames = try Self.hasFrames(file)
        if trustingIndex, hasFrames, StoreFile.size(file.index) != nil {
            access = .sharedReader
        } else if hasFrames {
            let directory = try Self.copy(file)
            path = directory + Self.copyName
            access = .readWrite
            copy = directory
        }
        do throws(BreakerStoreError) {
            self.database = Database(try Connection(path: path, access: access))
            self.isShared = access == .sharedReader
            self.copy = copy
        } catch {
            if let copy { TemporaryDirectory.remove(copy) }
            throw error
        }
    }

    /// Whether the file is to be read through its log and its wal-index.
    static func sharesLog(_ file: StoreFile) -> Bool {
        (try? self.hasFrames(file)) == true && StoreFile.size(file.index) != nil
    }

    /// Without a whole header and frames, a reader that may not write the wal-index would try for ten seconds to find in the
    /// log what the index promises.
    private static func hasFrames(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        guard let log = try LogFile.at(file.log) else { return false }
        return log.hasFrames
    }

    deinit {
        // Unlinked while the connection is still open: nobody else knows these files.
        if let copy = self.copy { TemporaryDirectory.remove(copy) }
    }

    /// Reads what `body` reads, again if somebody has changed the files meanwhile in a way that this way of reading does
    /// not notice.
    static func look<Value>(
        at file: StoreFile,
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        var failure: BreakerStoreError?
        var trustsIndex = true
        for _ in 0..<5 {
            let before = FileStamp(of: file)
            do throws(BreakerStoreError) {
                let reader = try StoreReader(file, trustingIndex: trustsIndex)
                let value = try body(reader.database)
                if reader.isShared || FileStamp(of: file) == before { return value }
                failure = nil
            } catch {
                failure = error
                if trustsIndex, let code = error.sqliteCode, SQLiteCode.isOfTheIndex(code) {
                    // Whoever wrote it was killed meanwhile, and only one who writes the database makes it anew.
                    trustsIndex = false
                    continue
                }
                if FileStamp(of: file) == before { break }
                // It may be no more than the change.
                failure = nil
            }
        }
        throw failure
            ?? BreakerStoreError(code: .busy, message: "the file kept changing while it was read", path: file.path)
    }

    private static let copyName = "/copy.db"

    private static func copy(_ file: StoreFile) throws(BreakerStoreError) -> String {
        let directory = try TemporaryDirectory.make()
        do throws(BreakerStoreError) {
            try Connection(path: file.path, access: .immutable).copyFile(to: directory + Self.copyName)
            // Nothing locks the log itself: to open and close it takes no lock away.
            try Self.copyLog(file.log, to: directory + Self.copyName + "-wal")
            return directory
        } catch {
            TemporaryDirectory.remove(directory)
            throw error
        }
    }

    private static func copyLog(_ source: String, to target: String) throws(BreakerStoreError) {
        let input = unsafe open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard input >= 0 else { throw BreakerStoreError(systemError: errno, doing: "read", path: source) }
        defer { close(input) }
        let output = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw BreakerStoreError(systemError: errno, doing: "write", path: target) }
        defer { close(output) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(input, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0, unsafe write(output, buffer, count) == count else {
                throw BreakerStoreError(systemError: errno, doing: "copy", path: source)
            }
        }
    }
}
