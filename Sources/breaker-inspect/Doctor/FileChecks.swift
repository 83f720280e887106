import BreakerStore
import BreakerTool

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

/// The doctor's checks of the files themselves.
struct FileChecks {
    let facts: StoreFiles

    /// From this many frames on, a stock sqlite3 shell checkpoints on its own, which this library avoids.
    static let longLog = 1_000
    /// A log of this size has not been truncated for long: services truncate one of 8 MB, unless a process reads it.
    static let largeLog: Int64 = 32 << 20

    /// - Parameter isReserveUsedUp: whether workers have found no room even in what the store keeps in reserve.
    func fileSystem(isReserveUsedUp: Bool) -> Finding {
        let check = "file system"
        if let kind = self.facts.unsuitableFileSystem {
            return .wrong(
                check,
                "the store is on a \(kind) file system, whose locks and shared memory can't be relied on",
                "stop all services and move the store to a local disk"
            )
        }
        let ok = Finding.ok(check, "it is local")
        guard let room = self.facts.room, let directory = self.facts.directory?.path else { return ok }
        let mount = SmallFile.text("/proc/self/mountinfo").flatMap { Mount(of: directory, in: $0) }
        let name = mount.map { "\($0.path.escaped) (\($0.kind.escaped))" } ?? "that of \(directory.quoted)"
        if mount?.access == .readOnly || room.isReadOnly && mount?.access != .readOnlyHere {
            return .wrong(
                check, "\(name) is mounted read-only: nobody can change the store, and services guard in memory",
                "see in the kernel's log ('dmesg') whether an I/O error is the reason; then remount it read-write")
        }
        if room.isReadOnly {
            return .note(
                check,
                "\(name) is mounted read-only here: nobody can change the store through this mount; services may have "
                    + "one of their own")
        }
        guard room.free == 0 else { return ok }
        return .wrong(
            check,
            "\(name) is full: 0 of \(Self.readable(bytes: room.total)) free; "
                + (isReserveUsedUp
                    ? "the store's own reserve is used up"
                    : "services go on only as long as the store's own reserve lasts"),
            "make room on it")
    }

    private static func readable(bytes: Double) -> String {
        let megabytes = (bytes / 1e6).rounded()
        return megabytes < 10_000 ? "\(Int64(megabytes)) MB" : "\(Int64(min(bytes / 1e9, 1e15))) GB"
    }

    // MARK: - Permissions

    static let adviceToReaders =
        "run this as a user who can; where several users share a store, its directory is setgid and its files are for "
        + "the group"

    var permissions: [Finding] {
        guard let database = self.facts.database else { return [] }
        var findings: [Finding] = []
        // One finding: their owner has made all of them for the same users.
        let unreadable = ([database] + self.sides).filter { !$0.isReadable }
        if let first = unreadable.first {
            let more = unreadable.count > 1 ? " and \((unreadable.count - 1).counted("file")) beside it" : ""
            findings.append(
                .wrong(
                    "permissions", "this user can't read \(first.path.quoted)\(more), which is \(Self.text(first))",
                    Self.adviceToReaders))
        }
        for side in self.sides where !Self.isOpen(side, toWritersOf: database) {
            findings.append(
                .wrong(
                    "permissions",
                    "\(side.path.quoted) is \(Self.text(side)), the database is \(Self.text(database)): who may write "
                        + "the one can't write the other",
                    "chown and chmod it like the database"
                )
            )
        }
        if !findings.isEmpty { return findings }
        let text = "the files are \(Self.text(database))"
        let mayWriteFiles = (self.sides + [database]).allSatisfy(\.isWritable)
        var reasons = mayWriteFiles ? [] : [text]
        if let directory = self.facts.directory, !directory.isWritable {
            reasons.append("the directory \(directory.path.quoted) is \(Self.text(directory))")
        }
        // Where nobody can write, the check of the file system says so.
        guard !reasons.isEmpty, self.facts.room?.isReadOnly != true else { return [.ok("permissions", text)] }
        let reason = reasons.joined(separator: ", ")
        guard database.owner == geteuid() else {
            return [.note("permissions", "\(reason); this user may look, but not reset, hold, release or forget")]
        }
        return [
            .wrong(
                "permissions",
                "\(reason); this user owns the store, but neither this tool nor services of this user can change it",
                "give this user the right to write to the directory and the files; services then recover by "
                    + "themselves")
        ]
    }

    private var sides: [StoreFiles.File] {
        [self.facts.log, self.facts.index, self.facts.lock, self.facts.board].compactMap(\.self)
    }

    private static func isOpen(_ side: StoreFiles.File, toWritersOf database: StoreFiles.File) -> Bool {
        guard side.mode & 0o666 == database.mode & 0o666 else { return false }
        // Members of a group may have made the file.
        return side.owner == database.owner || side.mode & 0o022 != 0
    }

    /// The mode and the owners of a file or directory.
    static func text(_ file: StoreFiles.File) -> String {
        let mode = String(file.mode & 0o777, radix: 8)
        return "0\(mode) of user \(file.owner), group \(file.group)"
    }

    // MARK: - Side files

    func log(_ examination: StoreExamination) -> Finding {
        let living = examination.living.count
        guard let log = self.facts.log else {
            guard living > 0 else { return .ok("log", "there is none") }
            return .wrong(
                "log", "there is none, though services have the store open: it was removed",
                "services notice within a second and start a new file; find out what removes files of the store"
            )
        }
        let size = "\((log.size + 1_023) / 1_024) KiB"
        guard let pending = examination.pendingFrames else {
            // No process has the log open, so its wal-index must be rebuilt.
            return self.facts.index != nil || log.size == 0
                ? .ok("log", "\(size)")
                : .note("log", "\(size), without its wal-index; the next service that opens the store makes one")
        }
        let text = "\(size), \(pending) frames of it not yet in the database"
        guard pending >= Self.longLog || log.size >= Self.largeLog else { return .ok("log", text) }
        let readers = IndexHolder.readers(self.facts).map(\.description)
        let what =
            readers.isEmpty
            ? "a program keeps a transaction open, such as a backup or a sqlite3 shell"
            : "\(readers.joined(separator: ", ")) \(readers.count == 1 ? "keeps" : "keep") a transaction open"
        return .wrong("log", text, "\(what): end it; services then copy the rest, and truncate the log")
    }

    /// The board, where all processes count their calls; without it each process counts alone.
    func board(_ examination: StoreExamination) -> Finding {
        let isUsed = !examination.living.isEmpty
        let alone = "a process that can't create one counts only its own calls"
        switch examination.board {
        case .inPlace:
            guard !examination.countedAlone.isEmpty else { return .ok("board", "it is in place") }
            let names = examination.countedAlone.prefix(5).map(\.quoted).joined(separator: ", ")
            let others = examination.countedAlone.count > 5 ? " and \(examination.countedAlone.count - 5) others" : ""
            return .note(
                "board",
                "it is in place, but live workers have counted calls of \(names)\(others) in their own memory: there was "
                    + "no board, or no room on it")
        case .missing:
            let text = "there is none: the first process that counts a call makes it"
            return isUsed ? .note("board", "\(text); \(alone)") : .ok("board", text)
        case .ofAnother:
            let text = "it belongs to another boot or another file: the next process that counts a call makes a new one"
            return isUsed ? .note("board", "\(text); \(alone)") : .ok("board", text)
        case .unusable:
            // If this user may not read the board, the check of the permissions reports that.
            guard self.facts.board?.isReadable != false else { return .note("board", "this user can't read it") }
            return .wrong(
                "board",
                "it is not a board: each process counts only its own calls, and a failure-rate or slow-call rule "
                    + "sees only those",
                "remove what is at \((self.facts.board?.path ?? "").quoted); services make a board within a second of "
                    + "their next calls"
            )
        }
    }

    /// The link to other hosts; nil if there is none, and the last one ended normally.
    func link(at now: Date) -> Finding? {
        guard let text = self.facts.link.sentence(at: now) else { return nil }
        // A process that does not run can't report anything about itself.
        if let note = self.facts.link.livingNote, let process = OtherProcess(pid: note.pid), process.isStopped {
            return .wrong(
                "link",
                "the fleet link hangs: its \(process.description) is stopped; this host guards itself",
                process.adviceWhenStopped)
        }
        switch self.facts.link {
        case .reported(let note) where !note.isJoined:
            return .wrong(
                "link", text,
                "remove that cause; the link then joins by itself")
        case .gone: return .wrong("link", text, "start the link again, such as with 'breaker-fleet run'")
        case .none, .begun, .reported: return .ok("link", text)
        }
    }

    func lockFile(_ examination: StoreExamination) -> Finding {
        let hasWorkers = !examination.living.isEmpty || !examination.dead.isEmpty
        guard self.facts.lock != nil else {
            return hasWorkers
                ? .wrong(
                    "lock file",
                    "there is none, though the store lists workers: no process can know which of them live",
                    "live services create it again within a second; find out what removes files of the store")
                : .note("lock file", "there is none; the first service that opens the store makes it")
        }
        guard self.facts.isLockFileOfStore else {
            return .wrong(
                "lock file", "it is not the lock file of a store, and no service can open the store",
                "remove it, if no service has the store open")
        }
        guard !self.facts.isLockFileDamaged else {
            return .wrong(
                "lock file", "another program has written into it",
                "find it: up to 0.5.0, any service started with stdout closed does this; the next service that opens "
                    + "the store repairs the file")
        }
        return .ok("lock file", "it is in place")
    }
}
