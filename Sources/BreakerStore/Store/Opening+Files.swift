#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// Beside `import Synchronization` in another file, the compiler takes it for the module that defines `timespec`'s
// fields.
import SwiftOverlayShims
#endif

/// The files that an opening finds, makes and moves aside.
extension Opening {
    /// Throws unless this process may read and write the store's files.
    ///
    /// A process that creates a file sets its mode and group right after, under the guard. So a refusal counts only if
    /// it comes under the guard, too.
    func requireAccess(_ finding: Schema.Recognised, until deadline: Deadline) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try self.requireAccess(finding)
        } catch {
            guard error.code == .permissionDenied, LockFile.exists(at: self.file.lock),
                let lock = try? LockFile(path: self.file.lock, creatingWith: nil, owner: nil)
            else { throw error }
            try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in try self.requireAccess(finding) }
        }
    }

    private func requireAccess(_ finding: Schema.Recognised) throws(BreakerStoreError) {
        if finding == .new, !self.mayCreate { throw Schema.missing(self.file) }
        for path in [self.file.directory, self.file.path, self.file.log, self.file.index] {
            let needed = path == self.file.directory ? W_OK | X_OK : R_OK | W_OK
            // One system call, not a look for the file first: another process may move a broken store's files aside
            // just now.
            guard unsafe access(path, needed) != 0, errno != ENOENT else { continue }
            throw BreakerStoreError(systemError: errno, doing: "write", path: path)
        }
    }

    var mayCreate: Bool {
        switch self.configuration.access {
        case .readWrite: true
        case .existing, .readOnly: false
        }
    }

    /// The mode that side files take: the database's.
    var mode: mode_t {
        var info = stat()
        guard unsafe stat(self.file.path, &info) == 0 else { return mode_t(self.configuration.fileMode) }
        return info.st_mode & 0o777
    }

    var owner: (uid_t, gid_t)? {
        var info = stat()
        return unsafe stat(self.file.path, &info) == 0 ? (info.st_uid, info.st_gid) : nil
    }

    func lockFile() throws(BreakerStoreError) -> LockFile {
        if let lock = self.previous?.lock, lock.isInPlace { return lock }
        return try LockFile(path: self.file.lock, creatingWith: self.mode, owner: self.owner)
    }

    /// Gives the log and the index the database's group, for users who share the store through that group.
    ///
    /// SQLite gives these files the database's mode, but the group only if root makes them.
    func giveTheGroup() {
        guard let group = self.owner?.1 else { return }
        for path in [self.file.log, self.file.index] {
            var info = stat()
            // In a directory that other users may write to, the path may be a second name of any file of this user.
            guard unsafe lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1,
                info.st_gid != group, info.st_uid == geteuid()
            else { continue }
            // The system refuses it to a user who is not in the group.
            _ = unsafe lchown(path, uid_t.max, group)
        }
    }

    /// The files that are there to be opened; first deletes an index whose log somebody has removed.
    ///
    /// Such an index tells of frames that no process will find. Processes that still have both open notice that the
    /// index is gone.
    func filesToOpen() -> FileIdentity {
        let files = FileIdentity(of: self.file)
        guard files.hasIndexWithoutLog else { return files }
        unsafe unlink(self.file.index)
        return FileIdentity(of: self.file)
    }

    func requireUnchanged(_ files: FileIdentity) throws(BreakerStoreError) {
        if FileIdentity(of: self.file).hasAll(of: files) { return }
        // Somebody has removed the log just now, and the index that is left tells of that log.
        if files.hasIndexWithoutLog(at: self.file) { unsafe unlink(self.file.index) }
        throw .moved(self.file.path)
    }

    /// Creates an empty database unless there is a file, and moves aside what lies beside an empty one; returns whether
    /// it has created one.
    ///
    /// The name is taken before anything is moved: whoever has taken a database away may put that back at any moment,
    /// and a log that lies beside its own database is no stray.
    func createFile() throws(BreakerStoreError) -> Bool {
        Hook.reached("creation.begin")
        let descriptor = RegularFile.open(
            self.file.path, O_RDWR | O_CREAT | O_EXCL, mode_t(self.configuration.fileMode))
        if descriptor >= 0 {
            // A file that was made just now has no locks yet that the close could drop.
            fchmod(descriptor, mode_t(self.configuration.fileMode))
            close(descriptor)
            Hook.reached("creation.file")
        } else if errno != EEXIST {
            throw BreakerStoreError(systemError: errno, doing: "create", path: self.file.path)
        }
        let newcomer = FileIdentity(of: self.file)
        if StoreFile.size(self.file.path) == 0 { try self.moveStraysAside(beside: newcomer) }
        return descriptor >= 0
    }

    /// Moves aside the log that a replaced database has left, unless another process has done it, and may have the new
    /// database's log open.
    ///
    /// - Parameter newcomer: the files that the caller has looked at. If they have been replaced since, the log stays:
    ///   its own database may have come back to it.
    func moveLogAside(of left: FileIdentity, beside newcomer: FileIdentity) throws(BreakerStoreError) {
        guard !left.hasDatabase(of: newcomer), newcomer.hasDatabase(of: self.file), left.hasLeftLog(at: self.file)
        else { return }
        try self.moveStraysAside(beside: newcomer)
    }

    /// Moves aside a log and an index that have lost their database: SQLite would take them for the next one's.
    ///
    /// - Parameter newcomer: has the database that is there now.
    func moveStraysAside(beside newcomer: FileIdentity) throws(BreakerStoreError) {
        var strays: [(kept: String, name: String)] = []
        for name in [self.file.log, self.file.index] where StoreFile.size(name) != nil {
            strays.append((try name.movedAside(as: "stray", at: self.clock.host.wallTime), name))
        }
        Hook.reached("strays.moved")
        if newcomer.hasDatabase(of: self.file) { return }
        // Their own database may have come back in this moment.
        for stray in strays { stray.kept.giveBack(as: stray.name) }
        throw .moved(self.file.path)
    }

    private static let reserveTable = "CREATE TABLE reserve (filler BLOB NOT NULL) STRICT"

    /// Whether the table that fills the reserve may be made, and one of this name dropped.
    ///
    /// Where somebody else has used its name the store works without the reserve, as long as the disk is not full.
    private func isReserveOurs(_ writer: Database) throws(BreakerStoreError) -> Bool {
        try writer.connection.integer(
            """
            SELECT count(*) FROM sqlite_schema
            WHERE name = 'reserve' COLLATE NOCASE AND type <> 'trigger' AND sql IS NOT '\(Self.reserveTable)'
            """
        ) == 0
    }

    /// Fills free pages and the log once, so that the files own their blocks from then on.
    func reserveSpace(
        _ writer: Database, _ identity: FileIdentity, _ deadline: Deadline
    ) throws(BreakerStoreError) {
        let pageSize = try writer.connection.integer("PRAGMA page_size")
        let size = Self.reservedPages * pageSize
        let mayBeLeft = writer.connection.hasTable("reserve")
        // The sqlite3 shell deletes the log if it closes the file last. A process that is killed below leaves the pages
        // in the log alone.
        let isFilled = StoreFile.size(self.file.path) ?? 0 >= size && StoreFile.size(self.file.log) ?? 0 >= size
        guard mayBeLeft || !isFilled, try self.isReserveOurs(writer) else { return }
        do throws(BreakerStoreError) {
            // Two transactions: SQLite never writes pages that one transaction fills and frees.
            try writer.transaction(until: deadline) { () throws(BreakerStoreError) in
                // A killed process may have left its own.
                try writer.connection.changeSchema("DROP TABLE IF EXISTS reserve; \(Self.reserveTable)")
                // One page a row: no row may be longer than the limit of the connection.
                try writer.connection.changeSchema("INSERT INTO reserve VALUES (zeroblob(\(pageSize)))")
                var pages: Int64 = 1
                while pages < Self.reservedPages {
                    let added = min(pages, Self.reservedPages - pages)
                    try writer.connection.changeSchema("INSERT INTO reserve SELECT filler FROM reserve LIMIT \(added)")
                    pages += added
                }
            }
            Hook.reached("creation.filled")
            try writer.transaction(until: deadline) { () throws(BreakerStoreError) in
                try writer.connection.changeSchema("DROP TABLE reserve")
            }
            Hook.reached("creation.freed")
            let other = try Database.sharing(self.file, as: identity, syncs: self.configuration.syncs)
            try other.connection.syncLog()
            try writer.checkpoint(through: other, until: deadline)
        } catch {
            // Without room for the reserve the store works, until the disk is full.
            guard error.code == .full else { throw error }
        }
    }
}
