#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StoreFiles {
    /// Why a store's file may be moved away.
    package enum Standing: Sendable {
        /// Services have the store open but can't use it, for this reason, and guard in memory.
        case refused(BreakerStoreError)
        /// Nothing is wrong with its tables, and no service has it open.
        case unused
    }

    /// Checks whether the file may be moved away; changes nothing.
    ///
    /// Throws `inUse` while a service uses the file, and throws if the file can't be taken for a store.
    package func standing() throws(BreakerStoreError) -> Standing {
        guard try OpeningFacts.isStore(self.file) else { throw Schema.missing(self.file) }
        // SQLite would take such a journal for the journal of the next database.
        guard StoreFile.size(self.file.journal) ?? 0 == 0 else {
            throw BreakerStoreError(
                code: .unavailable, message: "a transaction that was cut short is to be rolled back first",
                advice: "read the file once with sqlite3", path: self.file.journal)
        }
        do throws(BreakerStoreError) {
            _ = try BystanderReader.read(self.file, patience: Self.patience) { (database) throws(BreakerStoreError) in
                try database.connection.verifySchema()
            }
        } catch {
            guard error.code == .foreignSchema || error.code == .corrupt else { throw error }
            return .refused(error)
        }
        guard !LockFile.content(at: self.file.lock).hasWorkers else {
            throw BreakerStoreError(
                code: .inUse, message: "services have the store open, and nothing is wrong with its tables",
                advice: "end the services first", path: self.file.path)
        }
        return .unused
    }

    /// Moves database, log and index aside, in this order, as services do; returns the database's new name.
    ///
    /// Services that guard in memory may keep running: within a second they find the file gone and start a new one.
    /// Throws as `standing` does, and `busy` if another process opens or repairs the store for too long.
    package func setAside(_ clock: any HostClock) throws(BreakerStoreError) -> String {
        // Checked first, so that no lock file is made beside a database that is no store.
        _ = try self.standing()
        let database = self.database.map { (mode: mode_t($0.mode), owner: ($0.owner, $0.group)) }
        let lock = try LockFile(path: self.file.lock, creatingWith: database?.mode, owner: database?.owner)
        return try lock.withGuard(until: Deadline(after: Self.patience)) { () throws(BreakerStoreError) in
            let found = FileIdentity(of: self.file)
            _ = try self.standing()
            let quarantine = Quarantine(file: self.file, wallTime: clock.wallTime)
            guard lock.isInPlace, let kept = try quarantine.setAside(found) else { throw .moved(self.file.path) }
            return kept
        }
    }

    /// Longer than a starting service keeps other processes out.
    private static let patience = Duration.seconds(3)
}
