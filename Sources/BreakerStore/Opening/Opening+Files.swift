#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes, moves aside and deletes files for an opening.
extension Opening {
    /// Returns the lock file that this process has open, or else opens the one at the path.
    ///
    /// - Parameter mayMake: whether to create a missing lock file, with the mode and the owner of the database.
    func openLockFile(_ facts: OpeningFacts, mayMake: Bool) throws(BreakerStoreError) -> LockFile {
        if let lock = self.previous?.lock, lock.isInPlace { return lock }
        guard mayMake else { return try LockFile(path: self.file.lock, creatingWith: nil, owner: nil) }
        let mode = facts.database.map { mode_t($0.permissions & 0o777) } ?? mode_t(self.configuration.fileMode)
        let owner = facts.database.map { ($0.owner, $0.group) }
        return try LockFile(path: self.file.lock, creatingWith: mode, owner: owner)
    }

    /// Creates an empty database.
    ///
    /// The empty file takes the name before a stray log is moved aside: then nobody can put the log's own database back
    /// unnoticed during the move.
    func createFile() throws(BreakerStoreError) {
        Hook.reached("creation.begin")
        let mode = mode_t(self.configuration.fileMode)
        // The file is new, so this process has no locks on it that the close could drop.
        if let new = OpenFile(self.file.path, O_RDWR | O_CREAT | O_EXCL, mode) {
            new.change(mode: mode, owner: nil)
        } else if errno != EEXIST {
            throw BreakerStoreError(systemError: errno, doing: "create", path: self.file.path)
        }
        Hook.reached("creation.file")
    }

    /// Moves aside a log and a wal-index that have lost their database: SQLite would take them for the next database's.
    ///
    /// - Parameter found: the files that were found; their database must still be there after the move.
    func moveStraysAside(beside found: FileIdentity) throws(BreakerStoreError) {
        var strays: [MovedFile] = []
        for name in [self.file.log, self.file.index] where StoreFile.size(name) != nil {
            strays.append(try MovedFile(name, as: "stray", at: self.clock.host.wallTime))
        }
        Hook.reached("strays.moved")
        if found.hasDatabase(of: self.file) { return }
        // Another program may have put the strays' own database back.
        for stray in strays { stray.putBack() }
        throw .moved(self.file.path)
    }

    /// Deletes a wal-index that has lost its log; processes that have both open notice that the wal-index is gone.
    func deleteIndex() throws(BreakerStoreError) {
        guard unsafe unlink(self.file.index) != 0, errno != ENOENT else { return }
        throw BreakerStoreError(systemError: errno, doing: "remove", path: self.file.index)
    }

    /// Renames the broken files; returns the database's new name, or nil if another database is there.
    func quarantine(_ broken: FileIdentity) throws(BreakerStoreError) -> String? {
        Hook.reached("quarantine.due")
        // The check took a while, so another file may be there now.
        guard broken.hasDatabase(of: self.file) else { return nil }
        return try Quarantine(file: self.file, wallTime: self.clock.host.wallTime).quarantine(broken)
    }

    /// Gives the log and the wal-index the database's group, for users who share the store through that group.
    ///
    /// SQLite gives these files the database's mode, but its group only if root makes them.
    func setDatabaseGroup(_ facts: OpeningFacts) {
        guard let group = facts.database?.group else { return }
        for (path, found) in [(self.file.log, facts.log), (self.file.index, facts.index)] {
            // If other users may write to the directory, the path may be a hard link to any file of this user.
            guard let found, found.kind == .regular, found.links == 1, found.group != group, found.owner == facts.user
            else { continue }
            // May fail: the system refuses a group that the user does not belong to.
            _ = unsafe lchown(path, uid_t.max, group)
        }
    }
}
