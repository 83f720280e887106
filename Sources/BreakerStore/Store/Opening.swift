import FoundationEssentials

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
    let reader: Database
    let lock: LockFile
    let worker: Worker
    let identity: FileIdentity
    /// What a broken file that was here is called now.
    let quarantined: String?
    /// What was wrong with the file and has been mended, for its history.
    let mended: [StoreNote]
    /// Whether answers may be held against the header of the wal-index.
    let answersCount: Bool
}

/// Opens a store's file for reading and writing; creates and migrates it where that is asked for.
struct Opening {
    let file: StoreFile
    let configuration: CircuitStore.Configuration
    let clock: StoreClock
    /// Where and as whom this process was there before.
    var previous: Membership?
    /// What this process had open last: another database may take its place, and the log be left.
    var left: FileIdentity?
    /// Whether SQLite has called the file broken: then it is looked through first.
    var isSuspect = false

    /// A worker's byte in a lock file.
    struct Membership: Sendable {
        let lock: LockFile
        let worker: Int64
    }

    /// Opening is no call's path: a hundred processes may open at once, one after the other under the guard.
    static let patience = Duration.seconds(10)
    /// Free pages that the file keeps, and blocks that the log keeps: on a full disk they are there.
    static let reservedPages: Int64 = 256
    /// More than this, with the log, is not looked through before it is used: others wait meanwhile, and a disk may be
    /// slow.
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
            // Another process may have done it in the meantime, so again in any case.
            quarantined = try self.setAsideIfBroken(until: deadline)
            return try self.openStore(until: deadline, quarantined)
        }
    }

    /// Whether an error may come from a broken file: SQLite calls it so, or does no more than read what a garbled
    /// header calls a file of a later format.
    private func mayBeBroken(_ error: BreakerStoreError) -> Bool {
        error.code == .corrupt || error.code == .notAStore
            || error.code == .permissionDenied && (try? DatabaseHeader(of: self.file))?.isWritable == false
    }

    /// Moves aside what a database left here that another has replaced, before anybody reads that one through it.
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

    /// Does so unless another process has done it, and may have the newcomer's log open.
    ///
    /// - Parameter newcomer: what was looked at; a stranger's file may have its place for a moment, and ours come back
    ///   to its
    ///   log.
    private func moveLogAside(of left: FileIdentity, beside newcomer: FileIdentity) throws(BreakerStoreError) {
        guard !left.hasDatabase(of: newcomer), newcomer.hasDatabase(of: self.file), left.hasLeftLog(at: self.file)
        else { return }
        try self.moveStraysAside()
    }

    /// A log or an index without its database would be taken for the next one's.
    func moveStraysAside() throws(BreakerStoreError) {
        for stray in [self.file.log, self.file.index] where StoreFile.size(stray) != nil {
            _ = try stray.movedAside(as: "stray", at: self.clock.host.wallTime)
        }
    }

    /// Only where a store has been, as its lock file says, and only for those who may create one.
    private var isQuarantineAllowed: Bool { self.mayCreate && LockFile.exists(at: self.file.lock) }

    /// Renames the files if they are broken; returns what the database is called now.
    private func setAsideIfBroken(until deadline: Deadline) throws(BreakerStoreError) -> String? {
        guard self.isQuarantineAllowed else { return nil }
        let lock = try LockFile(path: self.file.lock, creatingWith: nil, owner: nil)
        return try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
            let quarantine = Quarantine(file: self.file, wallTime: self.clock.host.wallTime)
            let found = FileIdentity(of: self.file)
            // Whoever has removed the lock file meanwhile locks another one.
            guard lock.isInPlace, try quarantine.isDue() else { return nil }
            Hook.reached("quarantine.due")
            // To look took a while: another file may be there now.
            guard FileIdentity(of: self.file).hasDatabase(of: found) else { return nil }
            return try quarantine.setAside(found)
        }
    }

    private func openStore(until deadline: Deadline, _ quarantined: String?) throws(BreakerStoreError) -> Opened {
        while true {
            Hook.reached("open.begin")
            // Before anything is opened: what may have been put there since the path was resolved?
            try StoreFile.requireSafe(self.file.path)
            // Before anything is written: whose file is it?
            var found = FileIdentity(of: self.file)
            let finding = try self.recognise(until: deadline)
            try self.requireAccess(finding, until: deadline)
            let lock = try self.lockFile()
            // Before the guard is asked for: whoever has it may wait for those who live.
            if let previous { _ = lock.lock(worker: previous.worker) }
            let opened = try lock.withGuard(until: deadline) { () throws(BreakerStoreError) -> Opened? in
                // Between opening and locking somebody may have removed it: then others lock another file. And what was
                // looked at may have been set aside, and another be there.
                guard lock.isInPlace, finding == .new || found.hasDatabase(of: self.file) else { return nil }
                Hook.reached("open.guarded")
                if finding == .new || StoreFile.size(self.file.path) ?? 0 == 0 {
                    // Another may have created it meanwhile.
                    found = FileIdentity(of: self.file)
                    if try Schema.recognise(self.file) == .new {
                        guard self.mayCreate else { throw Schema.missing(self.file) }
                        try self.createFile()
                        found = FileIdentity(of: self.file)
                    }
                }
                // It may have come since that was asked last.
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

    /// Whose file it is; one that another process creates just now looks like a stranger's until that is done.
    private func recognise(until deadline: Deadline) throws(BreakerStoreError) -> Schema.Recognised {
        do throws(BreakerStoreError) {
            return try Schema.recognise(self.file)
        } catch {
            // A store's lock file is there before the rest of it; to look at a stranger's must not touch it.
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
        let files = self.filesToOpen()
        let writer = Database(try Connection(path: self.file.path, access: .readWrite))
        Hook.reached("open.connected")
        guard files.hasDatabase(of: found), writer.isOpen(at: self.file, as: files) else {
            throw .moved(self.file.path)
        }
        try writer.connection.waitWhenBusy(deadline.remaining)
        try writer.connection.configureForSharing()
        // Before anything is written: the log and the index are those of this database.
        try self.requireUnchanged(files)
        let dropped = try self.dropStrangeIndexes(writer)
        try self.requireWhole(writer, lock)
        try Schema.migrate(writer.connection, self.file, mayCreate: self.mayCreate)
        guard try writer.connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw BreakerStoreError(
                code: .unavailable,
                message: "SQLite can't keep a write-ahead log here",
                path: self.file.path
            )
        }
        Hook.reached("open.logged")
        // A new file's log and index are made by the first read.
        _ = try writer.connection.integer("SELECT count(*) FROM clock")
        let identity = FileIdentity(of: self.file)
        guard identity.isComplete, identity.hasAll(of: files) else { throw .moved(self.file.path) }
        let reader = try Database.sharing(self.file, as: identity)
        self.giveTheGroup()
        try writer.connection.waitWhenBusy(.zero)
        try self.reserveSpace(writer, reader, deadline)
        if lock.isNew, lock !== self.previous?.lock { try self.waitForTheLiving(writer, lock) }
        let mended = try self.mendNumbers(writer, deadline)
        let before = try self.tag(of: reader)
        let (worker, healed) = try self.register(writer, lock, deadline)
        let after = try self.tag(of: reader)
        Hook.reached("open.registered")
        // Files that were renamed while SQLite opened them would pass for those that it has open.
        guard FileIdentity(of: self.file) == identity, lock.isInPlace else { throw .moved(self.file.path) }
        return Opened(
            writer: writer,
            reader: reader,
            lock: lock,
            worker: worker,
            identity: identity,
            quarantined: quarantined,
            mended: dropped.map(Self.note) + mended + healed,
            // The self-test: an own commit must be seen to change the header.
            answersCount: before != after && after?.counts == true
        )
    }

    private static func note(droppedIndex name: String) -> StoreNote {
        let reason = "dropped the index \(name.quoted), which is not the library's and may refuse rows"
        return StoreNote(transition: Transition(kind: .configured, reason: reason))
    }

    /// Drops what others have put on the library's tables and may refuse rows, or costs what it likes; returns the
    /// names.
    private func dropStrangeIndexes(_ writer: Database) throws(BreakerStoreError) -> [String] {
        let names = try writer.connection.strangeIndexes()
        for name in names {
            try writer.connection.changeSchema("DROP INDEX IF EXISTS \"\(name.replacing("\"", with: "\"\""))\"")
        }
        return names
    }

    /// Deletes rows whose numbers are so high that SQLite finds none for the next ones.
    private func mendNumbers(_ writer: Database, _ deadline: Deadline) throws(BreakerStoreError) -> [StoreNote] {
        guard try writer.hasNumbersAtTheirEnd else { return [] }
        try writer.transaction(until: deadline) { () throws(BreakerStoreError) in try writer.mendNumbers() }
        let reason = "deleted events and circuits with numbers so high that there were none left"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }

    /// Finds damage that passes for a store before it does harm.
    ///
    /// Not in a store that others use: there, whoever meets the damage sees to it. Nor in one that takes long to look
    /// through, but for the lengths of keys.
    private func requireWhole(_ writer: Database, _ lock: LockFile) throws(BreakerStoreError) {
        guard self.mayCreate, self.previous == nil, !lock.isNew, !lock.hasOtherWorkers,
            let size = StoreFile.size(self.file.path), size > 0
        else { return }
        guard size + (StoreFile.size(self.file.log) ?? 0) <= Self.mostToLookThrough else {
            try writer.requireShortKeys()
            return
        }
        guard try writer.isWhole() else {
            throw BreakerStoreError(code: .corrupt, message: "the file is damaged", path: self.file.path)
        }
    }

    /// The header of the wal-index; a connection has it only once it has read.
    private func tag(of reader: Database) throws(BreakerStoreError) -> Tag? {
        _ = try reader.connection.integer("SELECT count(*) FROM clock")
        return reader.connection.walIndex()?.tag()
    }

    // MARK: - The worker

    /// How long those who live may take to come to a new lock file: they look once a second whether theirs is in place.
    private static let grace = Duration.seconds(2)

    /// Waits, where somebody has taken the lock file away, for the workers that the store knows to lock their bytes in
    /// this one: else their slots would be given to others while they probe.
    ///
    /// Nobody else makes a lock file meanwhile, for this process has the guard. Who does not come is dead.
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
        // Locked before its row is written: a row whose byte is free is a dead worker's. To lock it again does no harm.
        while !lock.lock(worker: id) {
            guard !deadline.isOver else {
                throw BreakerStoreError(code: .busy, message: "no lock can be had", path: lock.path)
            }
            id = Int64.random(in: LockFile.workers)
        }
        let worker = Worker(id: id, name: self.configuration.workerName ?? Worker.processName, pid: getpid())
        do throws(BreakerStoreError) {
            try self.write(worker, writer, lock, deadline)
            return (worker, [])
        } catch {
            // The row of one who is gone, or of a circuit, must keep nobody from opening the store.
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

    /// Writes the worker's row, and removes those of the dead.
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
            let living = others.filter { lock.isHeldByAnother(worker: $0) }
            if !living.isEmpty { try self.requireSameBoot(writer) }
            let now = try ClockRow.start(writer, self.clock).now
            for dead in Set(others).subtracting(living) { try writer.removeWorker(dead, at: now) }
            try writer.run(
                "INSERT OR REPLACE INTO worker (id, name, pid, since) VALUES (?1, ?2, ?3, ?4)",
                .integer(worker.id), .text(worker.name), .integer(Int64(worker.pid)), .integer(now.microseconds)
            )
            try writer.keep(highest: now)
        }
    }

    private func heal(_ writer: Database, _ deadline: Deadline) throws(BreakerStoreError) -> [StoreNote] {
        do throws(BreakerStoreError) {
            return try writer.transaction(until: deadline) { () throws(BreakerStoreError) in
                var healing = Healing(writer, at: try ClockRow.start(writer, self.clock).now, configs: [:])
                try healing.run()
                return healing.notes
            }
        } catch {
            throw error.isOfUnusableRow ? .unwritable(error) : error
        }
    }

    /// A live worker's lock and another boot: two kernels share the file, and neither sees the other's memory.
    private func requireSameBoot(_ writer: Database) throws(BreakerStoreError) {
        guard try ClockRow.isOfAnotherBoot(writer, than: self.clock.host.bootID) else { return }
        throw BreakerStoreError(
            code: .unsupportedFileSystem,
            message: "a worker of another host or virtual machine has the store open",
            advice: "a store serves one host",
            path: self.file.path
        )
    }
}

extension Database {
    /// Deletes a dead worker's row, what it had registered, and the slots that it held.
    ///
    /// What it had registered was in use until now.
    func removeWorker(_ id: Int64, at now: StoreTime) throws(BreakerStoreError) {
        try self.run(
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id IN (SELECT circuit FROM registration WHERE worker = ?1)",
            .integer(id), .integer(now.microseconds)
        )
        try self.run("DELETE FROM probe WHERE worker = ?1", .integer(id))
        try self.run("DELETE FROM registration WHERE worker = ?1", .integer(id))
        try self.run("DELETE FROM worker WHERE id = ?1", .integer(id))
    }
}

extension Worker {
    /// The name of the program, without its folders.
    fileprivate static var processName: String {
        let program = CommandLine.arguments.first ?? ""
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? "worker" : String(name.prefix(200))
    }
}
