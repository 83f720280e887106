#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What opening a store's file yields.
struct Opened: Sendable {
    let writer: Database
    let lock: LockFile
    let worker: Worker
    let identity: FileIdentity
    /// What a broken file that was here is called now.
    let quarantined: String?
    /// What was wrong with the file and has been mended; the history is to tell of it.
    let mended: [StoreNote]
    /// Whether answers may be compared with the header of the wal-index.
    let answersCount: Bool
}

/// Opens a store's file for reading and writing; creates and migrates the file if the configuration allows it.
struct Opening {
    let file: StoreFile
    let configuration: CircuitStore.Configuration
    let clock: StoreClock
    /// The lock file and the worker that this process had before it reopens the store; nil at first.
    var previous: Membership?
    /// The files that this process had open last; another database may have taken their place beside their log.
    var left: FileIdentity?
    /// Whether SQLite has called the file broken; the opening looks through it first then.
    var isSuspect = false

    /// A worker's byte in a lock file.
    struct Membership: Sendable {
        let lock: LockFile
        let worker: Int64
    }

    /// How long an opening may take: a hundred processes that start together open one after the other, under the guard.
    static let patience = Duration.seconds(10)
    /// How many free pages the database keeps, and at least as many blocks the log, for when the disk is full.
    static let reservedPages: Int64 = 256
    /// How many bytes of database and log an opening looks through at most: other processes wait meanwhile.
    private static let mostToLookThrough: Int64 = 8 << 20

    func run() throws(BreakerStoreError) -> Opened {
        let deadline = Deadline(after: self.configuration.patience)
        var quarantined: String?
        if let left { try self.setAsideLog(of: left, until: deadline) }
        if self.isSuspect { quarantined = try self.setAsideIfBroken(until: deadline) }
        do throws(BreakerStoreError) {
            return try self.openStore(until: deadline, quarantined)
        } catch {
            guard self.mayBeBroken(error), self.isQuarantineAllowed else { throw error }
            // Another process may have moved the file aside in the meantime, so the opening tries again in any case.
            quarantined = try self.setAsideIfBroken(until: deadline)
            return try self.openStore(until: deadline, quarantined)
        }
    }

    /// Whether SQLite calls the file broken, or refuses to write because a garbled header names a later format.
    private func mayBeBroken(_ error: BreakerStoreError) -> Bool {
        error.code == .corrupt || error.code == .notAStore
            || error.code == .permissionDenied && (try? DatabaseHeader(of: self.file))?.isWritable == false
    }

    /// Moves aside the log that a replaced database has left, before any process reads the new database through it.
    private func setAsideLog(of left: FileIdentity, until deadline: Deadline) throws(BreakerStoreError) {
        let newcomer = FileIdentity(of: self.file)
        guard left.hasLeftLog(at: self.file), StoreFile.size(self.file.path) ?? 0 > 0,
            try DatabaseHeader(of: self.file)?.applicationID == Schema.applicationID
        else { return }
        let lock = try self.lockFile()
        try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
            if lock.isInPlace { try self.moveLogAside(of: left, beside: newcomer) }
        }
    }

    /// Whether a broken file may be set aside: its lock file says that it was a store, and this opening may create one.
    private var isQuarantineAllowed: Bool { self.mayCreate && LockFile.exists(at: self.file.lock) }

    /// Renames the files if they are broken; returns what the database is called now.
    private func setAsideIfBroken(until deadline: Deadline) throws(BreakerStoreError) -> String? {
        guard self.isQuarantineAllowed else { return nil }
        let lock = try LockFile(path: self.file.lock, creatingWith: nil, owner: nil)
        return try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
            let quarantine = Quarantine(file: self.file, wallTime: self.clock.host.wallTime)
            let found = FileIdentity(of: self.file)
            // If somebody has removed the lock file meanwhile, other processes lock another one.
            guard lock.isInPlace, try quarantine.isDue() else { return nil }
            Hook.reached("quarantine.due")
            // The look took a while, so another file may be there now.
            guard FileIdentity(of: self.file).hasDatabase(of: found) else { return nil }
            return try quarantine.setAside(found)
        }
    }

    private func openStore(until deadline: Deadline, _ quarantined: String?) throws(BreakerStoreError) -> Opened {
        while true {
            Hook.reached("open.begin")
            // Somebody may have put another kind of file there since the path was resolved.
            try StoreFile.requireSafe(self.file.path)
            // Nothing is written before the file is known to be a store, or new.
            var found = FileIdentity(of: self.file)
            let finding = try self.recognise(until: deadline)
            try self.requireAccess(finding, until: deadline)
            let lock = try self.lockFile()
            // Locked before the guard: the process that has the guard may be waiting for this worker.
            if let previous { _ = lock.lock(worker: previous.worker) }
            let opened = try lock.withGuard(until: deadline) { () throws(BreakerStoreError) -> Opened? in
                // Somebody may have removed the lock file before it was locked: then other processes lock another one.
                // The database may have been set aside since it was recognised, and another be in its place.
                guard lock.isInPlace, finding == .new || found.hasDatabase(of: self.file) else { return nil }
                Hook.reached("open.guarded")
                if finding == .new || StoreFile.size(self.file.path) ?? 0 == 0 {
                    // Another process may have created the file meanwhile.
                    found = FileIdentity(of: self.file)
                    if try Schema.recognise(self.file) == .new {
                        guard self.mayCreate else { throw Schema.missing(self.file) }
                        // Somebody may have put a file there since, which must be recognised first.
                        guard try self.createFile() || found.hasDatabase(of: self.file) else { return nil }
                        found = FileIdentity(of: self.file)
                    }
                }
                // Another database may have come since `run` looked for one.
                if let left { try self.moveLogAside(of: left, beside: found) }
                return try self.openGuarded(lock, found, deadline, quarantined)
            }
            if let opened { return opened }
            guard !deadline.isOver else {
                throw BreakerStoreError(
                    code: .busy, message: "a file of the store keeps being replaced", path: self.file.path)
            }
        }
    }

    /// Whether the file is a store or new; throws if it is a stranger's, which a store may look like until it is
    /// complete.
    private func recognise(until deadline: Deadline) throws(BreakerStoreError) -> Schema.Recognised {
        do throws(BreakerStoreError) {
            // A process that opens its store anew would take its own worker's byte for another's.
            return try Schema.recognise(self.file, asksIndex: self.previous == nil)
        } catch {
            // A store's lock file is there before the rest of the store. The first page may have a garbled version
            // where the log has the right one: the second look reads the log in any case. Neither look touches a
            // stranger's file.
            guard LockFile.exists(at: self.file.lock),
                let lock = try? LockFile(path: self.file.lock, creatingWith: nil, owner: nil)
            else { throw error }
            return try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
                try Schema.recognise(self.file)
            }
        }
    }

    private func openGuarded(
        _ lock: LockFile,
        _ found: FileIdentity,
        _ deadline: Deadline,
        _ quarantined: String?
    ) throws(BreakerStoreError) -> Opened {
        let isLogGone = StoreFile.size(self.file.log) ?? 0 == 0
        let files = self.filesToOpen()
        let writer = Database(
            try Connection(path: self.file.path, access: .readWrite, syncs: self.configuration.syncs))
        Hook.reached("open.connected")
        guard files.hasDatabase(of: found), writer.isOpen(at: self.file, as: files) else {
            throw .moved(self.file.path)
        }
        try writer.connection.waitWhenBusy(deadline.remaining)
        try writer.connection.configureForReading()
        let version = try writer.connection.integer("PRAGMA user_version")
        // Before anything is written: the log and the index are those of this database, and no later program's. SQLite
        // reads the schema only after that: it may not understand a later program's.
        try self.requireUnchanged(files)
        try Schema.requireKnownVersion(version, self.file.path)
        try writer.connection.configureSyncs()
        if version != 0 {
            _ = try writer.connection.schemaVersion()
            try self.requireWhole(writer, lock, isLogGone: isLogGone)
        }
        let lost = try Schema.migrate(writer.connection, self.file, mayCreate: self.mayCreate)
        guard try writer.connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw BreakerStoreError(
                code: .unavailable,
                message: "SQLite can't keep a write-ahead log here",
                path: self.file.path
            )
        }
        Hook.reached("open.logged")
        // Nothing is written to tables that have not been compared with the library's.
        _ = try writer.connection.schemaVersion()
        // The first read makes a log and an index where there were none.
        if !files.isComplete { _ = try writer.connection.integer("SELECT count(*) FROM clock") }
        let identity = FileIdentity(of: self.file)
        guard identity.isComplete, identity.hasAll(of: files) else { throw .moved(self.file.path) }
        self.giveTheGroup()
        try writer.connection.waitWhenBusy(.zero)
        try self.reserveSpace(writer, identity, deadline)
        if lock.isNew, lock !== self.previous?.lock { try self.waitForTheLiving(writer, lock) }
        let mended = try self.mendNumbers(writer, deadline)
        let before = writer.connection.walIndex()?.tag()
        let (worker, healed) = try self.register(writer, lock, deadline)
        let after = writer.connection.walIndex()?.tag()
        Hook.reached("open.registered")
        // If files were renamed while SQLite opened them, the paths lead to other files than SQLite has open.
        guard FileIdentity(of: self.file) == identity, lock.isInPlace else { throw .moved(self.file.path) }
        return Opened(
            writer: writer,
            lock: lock,
            worker: worker,
            identity: identity,
            quarantined: quarantined,
            mended: Self.note(lostTriggers: lost) + mended + healed,
            // The self-test: this process's own commit must change the header.
            answersCount: before != after && after?.counts == true
        )
    }

    private static func note(lostTriggers names: [String]) -> [StoreNote] {
        guard !names.isEmpty else { return [] }
        let list = names.prefix(10).map(\.quoted).joined(separator: ", ") + (names.count > 10 ? " and others" : "")
        let reason = "the step to schema \(Versions.schema) has dropped triggers of others, which never ran: \(list)"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }

    /// Deletes rows whose numbers are so high that SQLite finds no numbers for new rows.
    private func mendNumbers(_ writer: Database, _ deadline: Deadline) throws(BreakerStoreError) -> [StoreNote] {
        guard try writer.hasNumbersAtTheirEnd else { return [] }
        try writer.transaction(until: deadline) { () throws(BreakerStoreError) in try writer.mendNumbers() }
        let reason = "deleted events and circuits with numbers so high that there were none left"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }

    /// Throws if the file passes for a store but is damaged.
    ///
    /// A store that other processes use is not looked through, nor is a large file: a process that meets the damage
    /// sees to it.
    ///
    /// - Parameter isLogGone: whether there was no log, or an empty one. Somebody may have removed the log of a store
    ///   in use. A checkpoint beside a reader leaves out each page that was changed again after the reader had begun.
    ///   So the database may be torn without its log, in a way that no statement notices. The first process that opens
    ///   it after that looks through it, before anybody writes.
    private func requireWhole(
        _ writer: Database, _ lock: LockFile, isLogGone: Bool
    ) throws(BreakerStoreError) {
        // The lock file tells that the database was a store's; one that was made just now tells nothing.
        let isOurs = self.previous != nil || !lock.isNew
        let isUnused = self.previous == nil && !lock.hasOtherWorkers
        guard self.mayCreate, isOurs, isLogGone || isUnused,
            StoreFile.size(self.file.path) ?? 0 > 0, self.file.bytes <= Self.mostToLookThrough
        else { return }
        guard try writer.isWhole() else {
            throw BreakerStoreError(code: .corrupt, message: "the file is damaged", path: self.file.path)
        }
    }

    // MARK: - The worker

    /// How long living workers may take to move to a new lock file; they look once a second whether theirs is in place.
    private static let grace = Duration.seconds(2)

    /// Waits for the living workers to lock their bytes in a new lock file, after somebody has removed the old one.
    ///
    /// Without the wait, the slots of workers that probe would be given to others. No other process makes a lock file
    /// meanwhile, for this process has the guard. A worker that does not come counts as dead.
    private func waitForTheLiving(_ writer: Database, _ lock: LockFile) throws(BreakerStoreError) {
        let others = try writer.workers().map(\.worker.id).filter { $0 != self.previous?.worker }
        let end = Deadline(after: Self.grace)
        while !end.isOver, !others.allSatisfy({ lock.isHeldByAnother(worker: $0) }) {
            end.pause(atMost: .milliseconds(5))
        }
    }

    private func register(
        _ writer: Database,
        _ lock: LockFile,
        _ deadline: Deadline
    ) throws(BreakerStoreError) -> (Worker, healed: [StoreNote]) {
        var id = self.previous?.worker ?? Int64.random(in: LockFile.workers)
        // The byte is locked before its row is written: a row whose byte is free is a dead worker's. Locking it again
        // does no harm.
        while !lock.lock(worker: id) {
            guard !deadline.isOver else {
                throw BreakerStoreError(code: .busy, message: "no lock can be had", path: lock.path)
            }
            id = Int64.random(in: LockFile.workers)
        }
        let worker = Worker(
            id: id, name: self.configuration.workerName ?? Worker.processName, pid: getpid(),
            version: Versions.library)
        do throws(BreakerStoreError) {
            try self.write(worker, writer, lock, deadline)
            return (worker, [])
        } catch {
            // A bad row of a dead worker, or of a circuit, must not keep this process from opening the store.
            guard error.isOfUnusableRow else { throw error }
            let healed = try self.heal(writer, deadline)
            do throws(BreakerStoreError) {
                try self.write(worker, writer, lock, deadline)
            } catch {
                throw error.isOfUnusableRow ? .unwritable(error) : error
            }
            return (worker, healed)
        }
    }

    /// Writes the worker's row, and removes the rows of dead workers.
    private func write(
        _ worker: Worker,
        _ writer: Database,
        _ lock: LockFile,
        _ deadline: Deadline
    ) throws(BreakerStoreError) {
        try writer.transaction(until: deadline) { () throws(BreakerStoreError) in
            let others = try writer.all("SELECT id FROM worker WHERE id <> ?1 LIMIT 10000", .integer(worker.id)) {
                $0.integer(0)
            }
            let dead = others.filter { !lock.isHeldByAnother(worker: $0) }
            if dead.count < others.count { try self.requireSameBoot(writer) }
            var start = try ClockRow.start(writer, self.clock)
            let now = start.now
            for worker in dead { try writer.removeWorker(worker, at: now) }
            try writer.run(
                "INSERT OR REPLACE INTO worker (id, name, pid, version, since) VALUES (?1, ?2, ?3, ?4, ?5)",
                .integer(worker.id), .text(worker.name), .integer(Int64(worker.pid)), SQLValue(worker.version),
                .integer(now.microseconds)
            )
            try writer.reserve(&start.row, for: now, self.clock)
        }
    }

    private func heal(_ writer: Database, _ deadline: Deadline) throws(BreakerStoreError) -> [StoreNote] {
        do throws(BreakerStoreError) {
            return try writer.transaction(until: deadline) { () throws(BreakerStoreError) in
                var healing = Healing(writer, at: try ClockRow.start(writer, self.clock))
                try healing.run()
                return healing.notes
            }
        } catch {
            throw error.isOfUnusableRow ? .unwritable(error) : error
        }
    }

    /// Throws if the file is of another boot while another worker lives: two kernels would share the file.
    private func requireSameBoot(_ writer: Database) throws(BreakerStoreError) {
        guard let row = try ClockRow.read(writer), row.boot != self.clock.host.bootID else { return }
        throw BreakerStoreError(
            code: .unsupportedFileSystem,
            message: "a worker of another host or virtual machine has the store open",
            advice: "a store serves one host",
            path: self.file.path
        )
    }
}

extension Database {
    /// Deletes a worker's row, its registrations, and the slots that it held; what it counted by itself stays.
    ///
    /// The circuits that it had registered count as used until now.
    func removeWorker(_ id: Int64, at now: StoreTime) throws(BreakerStoreError) {
        try self.run(
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id IN (SELECT circuit FROM registration WHERE worker = ?1)",
            .integer(id), .integer(now.microseconds)
        )
        try self.foldTallies(of: id)
        try self.run("DELETE FROM probe WHERE worker = ?1", .integer(id))
        try self.run("DELETE FROM registration WHERE worker = ?1", .integer(id))
        try self.run("DELETE FROM worker WHERE id = ?1", .integer(id))
    }
}

extension Worker {
    /// The name of the program, without its folders.
    static var processName: String {
        let program = CommandLine.arguments.first ?? ""
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? "worker" : String(name.prefix(200))
    }
}
