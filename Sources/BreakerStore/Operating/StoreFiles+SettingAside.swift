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
        /// The file is no SQLite database: only its path says that it was the store. No service has it open.
        case unrecognizable(BreakerStoreError)
        /// Nothing is wrong with its tables, and no service has it open.
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

    /// Checks whether a file that services refuse may be moved away: only one without a database's header may.
    private func standing(ofNoStore refusal: BreakerStoreError) throws(BreakerStoreError) -> Standing {
        var facts = OpeningFacts(of: self.file)
        facts.look(at: .content)
        if let failure = facts.failure { throw failure }
        if case .header = facts.content {
            var refusal = refusal
            refusal.advice = "if no program needs it, move it away by hand; else correct the path"
            throw refusal
        }
        // The files beside a store are no databases either.
        if let ending = StoreFile.endings.first(where: self.file.path.hasSuffix) {
            throw BreakerStoreError(
                code: .unsafePath, message: "files whose names end with '\(ending)' lie beside a store",
                advice: "name the store's own file", path: self.file.path)
        }
        guard !LockFile.content(at: self.file.lock).hasWorkers else {
            throw BreakerStoreError(
                code: .inUse, message: "it is not an SQLite database, but services have the store open",
                advice: "they move a broken file away by themselves within a second or two; end them first if they do "
                    + "not",
                path: self.file.path)
        }
        return .unrecognizable(refusal)
    }

    /// Moves database, journal, log and index aside, in this order, as services do; returns the database's new name.
    ///
    /// The board and the lock file stay: services make a new board for a new file, and a lock file belongs to the path.
    /// Services that guard in memory may keep running: within a second they find the file gone and start a new one.
    /// Throws as `standing` does, and `busy` if another process opens or repairs the store for too long.
    package func setAside(_ clock: any HostClock) throws(BreakerStoreError) -> String {
        // Checked first, so that no lock file is made beside a database that is no store.
        _ = try self.standing()
        let database = self.database.map { (mode: mode_t($0.mode), owner: ($0.owner, $0.group)) }
        let lock = try LockFile(path: self.file.lock, creatingWith: database?.mode, owner: database?.owner)
        return try lock.withGuard(until: Deadline(after: Self.patience)) { () throws(BreakerStoreError) in
            // A new lock file has the mode and the owner of the broken file: they might keep services out.
            defer { if lock.isNew, lock.isInPlace { _ = unsafe unlink(self.file.lock) } }
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
