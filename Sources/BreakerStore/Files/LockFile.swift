import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `<db>-lock`: its byte 0 guards opening, migration and repair; byte 1 is that of the link to other hosts;
/// byte *id* is held as long as worker *id* lives.
///
/// The locks belong to the open file description (`F_OFD_SETLK`): POSIX ones are dropped by any close in the process,
/// and two stores in one process both get the same byte. The threads that use one `LockFile` share its description, so
/// that the byte alone does not keep them apart.
final class LockFile: Sendable {
    static let magic = Array("BreakerStore lock file 1\n".utf8)

    /// Longer than it takes to give a new file its mode.
    private static let patience = Duration.milliseconds(20)

    let path: String
    /// Whether this process has created the file.
    let isNew: Bool
    private let descriptor: Int32
    /// Whether a thread of this process has byte 0 through this object, or is about to ask for the byte.
    private let isGuarded = Atomic<Bool>(false)

    /// Opens the file; creates it, with the database's mode and owner, if `creating` names one.
    init(path: String, creatingWith mode: mode_t?, owner: (user: uid_t, group: gid_t)?) throws(BreakerStoreError) {
        var file = OpenFile(path, O_RDWR)
        var isNew = false
        if file == nil, errno == ENOENT, let mode {
            file = OpenFile(path, O_RDWR | O_CREAT | O_EXCL, mode)
            isNew = file != nil
            file?.take(mode: mode, owner: owner)
            if !isNew, errno == EEXIST { file = OpenFile(path, O_RDWR) }
        }
        let end = Deadline(after: Self.patience)
        while file == nil, errno == EACCES, mode != nil, !end.isOver {
            // Another user's process may have created the file just now, and may be about to set the mode.
            end.pause(atMost: .milliseconds(1))
            file = OpenFile(path, O_RDWR)
        }
        guard let file else { throw BreakerStoreError(systemError: errno, doing: "open", path: path) }
        Hook.reached("lock.created")
        guard ForkRecord.note(descriptor: file.descriptor) else {
            throw BreakerStoreError(code: .unavailable, message: "this process has too many stores open", path: path)
        }
        do throws(BreakerStoreError) {
            try Self.requireMagic(of: file, path)
        } catch {
            _ = ForkRecord.drop(descriptor: file.descriptor)
            throw error
        }
        self.path = path
        self.isNew = isNew
        self.descriptor = file.kept()
    }

    deinit {
        // A fork's child has closed its copy, and may have the number in use for something else.
        if ForkRecord.drop(descriptor: self.descriptor) { close(self.descriptor) }
    }

    /// What is at the path of a lock file.
    enum Content: Equatable {
        /// No lock file of a store, or not a whole one.
        case other
        case whole(hasWorkers: Bool)

        var hasWorkers: Bool { self == .whole(hasWorkers: true) }
    }

    /// Looks whether a whole lock file of a store is there, and an open store on the file; touches nothing.
    static func content(at path: String) -> Content {
        guard let file = OpenFile(path, O_RDONLY), file.read(Self.magic.count + 1) == Self.magic else { return .other }
        return .whole(hasWorkers: ByteLock.isAnyHeldByAnother(file.descriptor, Self.workers))
    }

    /// Whether a whole lock file of a store is there; touches nothing.
    static func exists(at path: String) -> Bool { Self.content(at: path) != .other }

    /// Whether an open store may be on the file; touches nothing.
    static func hasWorkers(at path: String) -> Bool { Self.content(at: path).hasWorkers }

    /// Whether any process has the byte of the link; touches nothing.
    static func isLinkTaken(at path: String) -> Bool {
        guard let file = OpenFile(path, O_RDONLY) else { return false }
        return ByteLock.isHeldByAnother(file.descriptor, Self.link)
    }

    private static func requireMagic(of file: borrowing OpenFile, _ path: String) throws(BreakerStoreError) {
        let bytes = file.read(Self.magic.count + 1)
        if bytes == Self.magic { return }
        // Cut short between its creation and this write: the rest of what was to be written is missing. After a power
        // cut the file may have its size and none of its bytes: they are zero.
        guard let bytes, bytes.count <= Self.magic.count,
            Self.magic.starts(with: bytes) || bytes.allSatisfy({ $0 == 0 })
        else {
            throw BreakerStoreError(
                code: .unsafePath,
                message: "the file is not a lock file of a store",
                advice: "remove it or name another path",
                path: path
            )
        }
        guard file.write(Self.magic) else { throw BreakerStoreError(systemError: errno, doing: "write", path: path) }
        Hook.reached("lock.written")
    }

    /// Which file it is.
    var number: FoundFile.Number? { FoundFile(descriptor: self.descriptor)?.number }

    /// Whether the path still leads to this file: a cleaner may have removed it.
    var isInPlace: Bool { self.number.map { $0 == FoundFile(self.path)?.number } ?? false }

    /// Takes byte 0 for the calling thread; false if another thread or another process has the byte.
    private func takeGuard() -> Bool {
        guard self.isGuarded.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        if ByteLock.set(self.descriptor, 0, true) { return true }
        self.isGuarded.store(false, ordering: .releasing)
        return false
    }

    private func giveGuardBack() {
        _ = ByteLock.set(self.descriptor, 0, false)
        self.isGuarded.store(false, ordering: .releasing)
    }

    /// Runs `body` while no other thread and no other process opens, migrates or repairs.
    ///
    /// `body` must not ask for the guard again.
    func withGuard<Result>(
        until deadline: Deadline,
        _ body: () throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> Result {
        while !self.takeGuard() {
            guard !deadline.isOver else {
                throw BreakerStoreError(
                    code: .busy,
                    message: "the store has been opened or repaired elsewhere for too long",
                    advice: "try again",
                    path: self.path
                )
            }
            deadline.pause(atMost: .milliseconds(2))
        }
        defer { self.giveGuardBack() }
        return try body()
    }

    /// The byte of the link that joins this store to those of other hosts.
    static let link: Int64 = 1

    /// Takes the byte of the link; false if another link has it.
    func lockLink() -> Bool { ByteLock.set(self.descriptor, Self.link, true) }

    func unlockLink() { _ = ByteLock.set(self.descriptor, Self.link, false) }

    /// The numbers that workers draw, each once: away from the offsets of the lock file's own bytes.
    static let workers: Range<Int64> = (1 << 32)..<(1 << 62)

    /// Takes the byte of a worker; false if another has it.
    func lock(worker: Int64) -> Bool { ByteLock.set(self.descriptor, worker, true) }

    func unlock(worker: Int64) { _ = ByteLock.set(self.descriptor, worker, false) }

    /// Whether another open store may be on the file.
    var hasOtherWorkers: Bool { ByteLock.isAnyHeldByAnother(self.descriptor, Self.workers) }

    /// Whether another open store holds the worker's byte.
    ///
    /// If the kernel gives no answer, the worker counts as alive. A slot that is kept too long comes free with its
    /// lease, but nothing takes back a second probe at the same time.
    func isHeldByAnother(worker: Int64) -> Bool {
        // No worker has an id outside the range: another program wrote it. The kernel rejects offsets below zero.
        Self.workers.contains(worker) && ByteLock.isHeldByAnother(self.descriptor, worker)
    }
}
