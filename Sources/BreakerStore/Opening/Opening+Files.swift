#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files that an opening makes, moves aside and deletes.
extension Opening {
    /// The lock file that this process has open, or the one at the path, which is made like the database if there is
    /// none.
    func openLockFile(_ facts: OpeningFacts, mayMake: Bool) throws(BreakerStoreError) -> LockFile {
        if let lock = self.previous?.lock, lock.isInPlace { return lock }
        guard mayMake else { return try LockFile(path: self.file.lock, creatingWith: nil, owner: nil) }
        let mode = facts.database.map { mode_t($0.permissions & 0o777) } ?? mode_t(self.configuration.fileMode)
        let owner = facts.database.map { ($0.owner, $0.group) }
        return try LockFile(path: self.file.lock, creatingWith: mode, owner: owner)
    }

    /// Creates an empty database unless there is a file by now.
    ///
    /// The file is made before a log is moved aside. The old database may be put back at any moment, and then its log
    /// is no stray.
    func createFile() throws(BreakerStoreError) {
        Hook.reached("creation.begin")
        let mode = mode_t(self.configuration.fileMode)
        // A file that was made just now has no locks yet that the close could drop.
        if let new = OpenFile(self.file.path, O_RDWR | O_CREAT | O_EXCL, mode) {
            new.take(mode: mode, owner: nil)
        } else if errno != EEXIST {
            throw BreakerStoreError(systemError: errno, doing: "create", path: self.file.path)
        }
        Hook.reached("creation.file")
    }

    /// Moves aside a log and an index that have lost their database: SQLite would take them for the next one's.
    ///
    /// - Parameter newcomer: the files that were found, whose database must still be there afterwards.
    func moveStraysAside(beside newcomer: FileIdentity) throws(BreakerStoreError) {
        var strays: [MovedFile] = []
        for name in [self.file.log, self.file.index] where StoreFile.size(name) != nil {
            strays.append(try MovedFile(name, as: "stray", at: self.clock.host.wallTime))
        }
        Hook.reached("strays.moved")
        if newcomer.hasDatabase(of: self.file) { return }
        // Their own database may have come back in this moment.
        for stray in strays { stray.giveBack() }
        throw .moved(self.file.path)
    }

    /// Deletes an index that has lost its log; processes that have both open notice that the index is gone.
    func deleteIndex() throws(BreakerStoreError) {
        guard unsafe unlink(self.file.index) != 0, errno != ENOENT else { return }
        throw BreakerStoreError(systemError: errno, doing: "remove", path: self.file.index)
    }

    /// Renames the broken files; returns what the database is called now, or nil if another one is there.
    func setAside(_ broken: FileIdentity) throws(BreakerStoreError) -> String? {
        Hook.reached("quarantine.due")
        // The look took a while, so another file may be there now.
        guard broken.hasDatabase(of: self.file) else { return nil }
        return try Quarantine(file: self.file, wallTime: self.clock.host.wallTime).setAside(broken)
    }

    /// Gives the log and the index the database's group, for users who share the store through that group.
    ///
    /// SQLite gives these files the database's mode, but the group only if root makes them.
    func giveTheGroup(_ facts: OpeningFacts) {
        guard let group = facts.database?.group else { return }
        for (path, found) in [(self.file.log, facts.log), (self.file.index, facts.index)] {
            // In a directory that other users may write to, the path may be a second name of any file of this user.
            guard let found, found.kind == .regular, found.links == 1, found.group != group, found.owner == facts.user
            else { continue }
            // The system refuses it to a user who is not in the group.
            _ = unsafe lchown(path, uid_t.max, group)
        }
    }
}
