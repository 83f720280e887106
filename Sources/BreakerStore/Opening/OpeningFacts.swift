#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files at a store's paths, and the facts about them by which an opening decides.
///
/// `init(of:)` finds the files with `stat`. The other facts cost more: each is examined only when a decision asks for
/// it.
struct OpeningFacts: Equatable, Sendable {
    /// A fact that is examined only when a decision asks for it.
    enum Fact: CaseIterable {
        /// The first bytes of the database.
        case content
        /// The first line of the lock file, and whether workers have locked bytes.
        case lock
        /// Whether the rollback journal's header gives the database no page before the transaction.
        case journal
        /// The versions in all copies of the first page in the log.
        case logVersions
        /// The version as SQLite reads it, through the log.
        case version
        /// Whether SQLite finds no tables.
        case tables
        /// Whether log and database together are a whole store.
        case wholeByLog
        /// Whether this process may write to the files.
        case access
        /// Whether SQLite finds the file broken.
        case damage
    }

    /// The kind of the first bytes of a database.
    enum Content: Equatable {
        case header(DatabaseHeader)
        /// Nothing but zeros, as many as a header has bytes.
        case zeros
        case other
    }

    let file: StoreFile
    /// The effective user of this process.
    var user: UInt32
    /// The directory; examined only if one of the files belongs to another user.
    var directory: FoundFile?
    var database: FoundFile?
    var log: FoundFile?
    var index: FoundFile?
    var journal: FoundFile?
    var lock: FoundFile?
    /// Why a file could not be examined.
    var failure: BreakerStoreError?

    // Each of these facts is nil until it has been examined.
    var content: Content?
    var lockContent: LockFile.Content?
    var startsFromNothing: Bool?
    var logVersions: [Int64]?
    var version: Int64?
    var isEmpty: Bool?
    var byLog: ByLog?
    var access: Access?
    var isBroken: Bool?

    /// What log and database are together.
    enum ByLog: Equatable {
        case store(version: Int64)
        case noStore
    }

    enum Access: Equatable {
        case granted
        case refused(BreakerStoreError)
    }

    /// Examines nothing.
    init(unexamined file: StoreFile, user: UInt32 = geteuid()) {
        self.file = file
        self.user = user
    }

    /// Finds the files at the paths.
    init(of file: StoreFile) {
        self.init(unexamined: file)
        do throws(BreakerStoreError) {
            self.database = try FoundFile.itself(at: file.path)
            self.log = try FoundFile.itself(at: file.log)
            self.index = try FoundFile.itself(at: file.index)
            self.journal = try FoundFile.itself(at: file.journal)
            self.lock = try FoundFile.itself(at: file.lock)
        } catch {
            self.failure = error
        }
        if self.names.contains(where: { $0.found.isForeign(to: self.user) }) {
            self.directory = FoundFile(file.directory)
        }
    }

    /// The files that exist, with their paths.
    var names: [(path: String, found: FoundFile)] {
        [
            (self.file.path, self.database), (self.file.log, self.log), (self.file.index, self.index),
            (self.file.journal, self.journal), (self.file.lock, self.lock),
        ].compactMap { path, found in found.map { (path, $0) } }
    }

    /// Finds the files again; keeps write access as granted if database, log and wal-index are unchanged.
    mutating func examineAgain() {
        let earlier = self
        self = OpeningFacts(of: self.file)
        let isSame = self.database == earlier.database && self.log == earlier.log && self.index == earlier.index
        if isSame, earlier.access == .granted { self.access = .granted }
    }

    var identity: FileIdentity {
        FileIdentity(database: self.database?.number, log: self.log?.number, index: self.index?.number)
    }

    /// The size of the database and its log together.
    var bytes: Int64 { (self.database?.size ?? 0) + (self.log?.size ?? 0) }

    // Not through key paths: the first key paths of a process cost an opening a tenth of a millisecond.
    var hasDatabase: Bool { self.database?.size ?? 0 > 0 }
    var hasLog: Bool { self.log?.size ?? 0 > 0 }
    var hasIndex: Bool { self.index?.size ?? 0 > 0 }
    var hasJournal: Bool { self.journal?.size ?? 0 > 0 }
    var hasLock: Bool { self.lock?.size ?? 0 > 0 }

    // MARK: - Examining

    /// Examines the fact that a decision asks for.
    mutating func examine(_ what: Fact) {
        do throws(BreakerStoreError) {
            switch what {
            case .content: self.content = try Self.content(of: self.file)
            case .lock: self.lockContent = LockFile.content(at: self.file.lock)
            case .journal: self.startsFromNothing = Self.startsFromNothing(self.file.journal)
            case .logVersions: self.logVersions = try LogFile.versions(at: self.file.log)
            case .version: self.version = try Self.version(of: self.file)
            case .tables: self.isEmpty = try Self.hasNoTables(self.file)
            case .wholeByLog: self.byLog = Self.byLog(self.file)
            case .access: self.access = Self.access(to: self.file)
            case .damage: self.isBroken = try Quarantine.isBroken(self.file)
            }
        } catch {
            self.failure = error
        }
    }

    private static func content(of file: StoreFile) throws(BreakerStoreError) -> Content {
        try StoreFile.requireReadable(file.path)
        guard let bytes = try Connection.firstBytes(DatabaseHeader.size, of: file.path) else { return .other }
        if let header = DatabaseHeader(bytes) { return .header(header) }
        return bytes.allSatisfy { $0 == 0 } ? .zeros : .other
    }

    /// Whether the database had no page before the transaction of the journal: the "initial size of the database in
    /// pages" (https://sqlite.org/fileformat2.html#the_rollback_journal).
    private static func startsFromNothing(_ journal: String) -> Bool {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        guard let file = OpenFile(journal, O_RDONLY), let bytes = file.read(28), bytes.count == 28 else { return false }
        return bytes.starts(with: magic) && bytes[16..<20].allSatisfy { $0 == 0 }
    }

    private static func version(of file: StoreFile) throws(BreakerStoreError) -> Int64 {
        try BystanderReader.read(file) { (database) throws(BreakerStoreError) in
            try database.connection.integer("PRAGMA user_version")
        }
    }

    private static func hasNoTables(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        let connection = try Connection(path: file.path, access: .immutable)
        return (try? Schema.isEmpty(connection)) == true
    }

    private static func byLog(_ file: StoreFile) -> ByLog {
        let found = try? BystanderReader.read(file, acceptsOlder: true) {
            (database) throws(BreakerStoreError) -> ByLog in
            guard try database.connection.integer("PRAGMA application_id") == Schema.applicationID,
                try database.isWhole()
            else { return .noStore }
            return .store(version: try database.connection.integer("PRAGMA user_version"))
        }
        return found ?? .noStore
    }

    /// Whether this process may write to the directory and the files that SQLite opens.
    private static func access(to file: StoreFile) -> Access {
        for path in [file.directory, file.path, file.log, file.index] {
            let needed = path == file.directory ? W_OK | X_OK : R_OK | W_OK
            // A missing file is found by the error alone, not by a check before: another process may be moving a broken
            // store's files aside.
            guard !mayUse(path, needed), errno != ENOENT else { continue }
            return .refused(BreakerStoreError(systemError: errno, doing: "write", path: path))
        }
        return .granted
    }
}

// The type's member `access` hides the C function of that name.
private func mayUse(_ path: String, _ mode: Int32) -> Bool { unsafe access(path, mode) == 0 }
