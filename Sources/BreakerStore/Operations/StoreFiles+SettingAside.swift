#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StoreFiles {
    /// The reason why a store's file may be moved away.
    package enum Standing: Sendable {
        /// Services may have the store open but can't use it, for this reason, and use in-memory breakers.
        case refused(BreakerStoreError)
        /// The file is no SQLite database: only its path shows that it was the store. No service has it open.
        case unrecognizable(BreakerStoreError)
        /// The file's tables are sound, and no service has it open.
        case unused
    }

    /// Checks whether the file may be moved away; changes nothing.
    ///
    /// Throws `inUse` while a service uses the file. Throws `notAStore` for the database of another program, and
    /// `notFound` for a file that may become a store.
    package func standing() throws(BreakerStoreError) -> Standing {
        do throws(BreakerStoreError) {
            guard try OpeningFacts.isStore(self.file) else { throw Schema.missing(self.file) }
        } catch {
            guard error.code == .notAStore else { throw error }
            return try self.standing(ofNoStore: error)
        }
        // SQLite would take such a journal for the journal of the next database.
        guard StoreFile.size(self.file.journal) ?? 0 == 0 else {
            throw BreakerStoreError(
                code: .unavailable, message: "an interrupted transaction must be rolled back first",
                advice: "run: sqlite3 '\(self.file.path)' .tables", path: self.file.journal)
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
                advice: "stop the services first", path: self.file.path)
        }
        return .unused
    }

    /// Checks whether a file that services refuse may be moved away: only a file without a database's header may be.
    private func standing(ofNoStore refusal: BreakerStoreError) throws(BreakerStoreError) -> Standing {
        var facts = OpeningFacts(of: self.file)
        facts.examine(.content)
        if let failure = facts.failure { throw failure }
        if case .header = facts.content {
            var refusal = refusal
            refusal.advice = "if no program needs it, move it away by hand; else correct the path"
            throw refusal
        }
        // The files beside a store are no databases either.
        if let ending = StoreFile.endings.first(where: self.file.path.hasSuffix) {
            throw BreakerStoreError(
                code: .unsafePath, message: "a file with the ending '\(ending)' is only a part of a store",
                advice: "name the store's own file", path: self.file.path)
        }
        guard !LockFile.content(at: self.file.lock).hasWorkers else {
            throw BreakerStoreError(
                code: .inUse, message: "it is not an SQLite database, but services have the store open",
                advice: "they move a broken file away by themselves within a second or two; stop them first if they do "
                    + "not",
                path: self.file.path)
        }
        return .unrecognizable(refusal)
    }

    /// Moves database, journal, log and wal-index aside in this order, as services do; returns the database's new name.
    ///
    /// The board and the lock file stay: services make a new board for a new file, and a lock file belongs to the path.
    /// Services that use in-memory breakers may keep running: within a second they notice that the file is gone, and
    /// start a new one. Throws as `standing` does, and `busy` if another process opens or repairs the store for too
    /// long.
    package func quarantine(_ clock: any HostClock) throws(BreakerStoreError) -> String {
        // Checked first, so that no lock file is made beside a database that is no store.
        _ = try self.standing()
        let database = self.database.map { (mode: mode_t($0.mode), owner: ($0.owner, $0.group)) }
        let lock = try LockFile(path: self.file.lock, creatingWith: database?.mode, owner: database?.owner)
        return try lock.withSetupLock(until: Deadline(after: Self.patience)) { () throws(BreakerStoreError) in
            // A lock file that is made here has the broken file's mode and owner, which might keep services out.
            defer { if lock.isNew, lock.isInPlace { _ = unsafe unlink(self.file.lock) } }
            let found = FileIdentity(of: self.file)
            _ = try self.standing()
            let quarantine = Quarantine(file: self.file, wallTime: clock.wallTime)
            guard lock.isInPlace, let newName = try quarantine.quarantine(found) else { throw .moved(self.file.path) }
            return newName
        }
    }

    /// How long to wait for the setup lock, which a starting service holds for less.
    private static let patience = Duration.seconds(3)
}
