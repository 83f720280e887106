import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `<db>-lock`, whose locked bytes show what processes do and which workers live.
///
/// Byte 0 is the setup lock: a process holds it while it opens, migrates, repairs or checkpoints the store, or changes
/// its board. Byte 1 belongs to the link to other hosts. Byte *id* is locked as long as worker *id* lives, and the
/// bytes from *id* + 2^62 on as long as that worker can't use the store's file (`DegradedBytes`).
///
/// The locks belong to the open file description (`F_OFD_SETLK`). POSIX locks would not do, because they belong to the
/// process: any close of the file would drop them all, and two stores of one process would not exclude each other.
/// Threads that use one `LockFile` share its description, so the locked byte alone does not keep them apart.
final class LockFile: Sendable {
    static let magic = Array("BreakerStore lock file 1\n".utf8)

    /// How long to wait for another process to set a new file's mode.
    private static let patience = Duration.milliseconds(20)

    let path: String
    /// Whether this process has created the file.
    let isNew: Bool
    private let descriptor: Int32
    /// Whether the first line is damaged; the next holder of the setup lock repairs it.
    private let needsRepair: Atomic<Bool>
    /// Whether a thread of this process holds the setup lock through this object, or is about to ask the kernel for it.
    private let hasSetupLock = Atomic<Bool>(false)

    /// Opens the file; if `creatingWith` has a mode, creates a missing file with that mode and the owner.
    init(path: String, creatingWith mode: mode_t?, owner: (user: uid_t, group: gid_t)?) throws(BreakerStoreError) {
        var file = OpenFile(path, O_RDWR)
        var isNew = false
        if file == nil, errno == ENOENT, let mode {
            file = OpenFile(path, O_RDWR | O_CREAT | O_EXCL, mode)
            isNew = file != nil
            file?.change(mode: mode, owner: owner)
            if !isNew, errno == EEXIST { file = OpenFile(path, O_RDWR) }
        }
        let end = Deadline(after: Self.patience)
        while file == nil, errno == EACCES, mode != nil, !end.isOver {
            // Another user's process may have just created the file, and may be about to set its mode.
            end.pause(atMost: .milliseconds(1))
            file = OpenFile(path, O_RDWR)
        }
        guard let file else { throw BreakerStoreError(systemError: errno, doing: "open", path: path) }
        Hook.reached("lock.created")
        guard ForkRecord.add(descriptor: file.descriptor) else {
            throw BreakerStoreError(code: .unavailable, message: "this process has too many stores open", path: path)
        }
        let isDamaged: Bool
        do throws(BreakerStoreError) {
            isDamaged = try Self.completeMagic(of: file, path)
        } catch {
            _ = ForkRecord.drop(descriptor: file.descriptor)
            throw error
        }
        self.path = path
        self.isNew = isNew
        self.needsRepair = Atomic(isDamaged)
        self.descriptor = file.detachDescriptor()
    }

    deinit {
        // A child of `fork` has closed its copy, and may use the number for another file.
        if ForkRecord.drop(descriptor: self.descriptor) { close(self.descriptor) }
    }

    /// The kind of file at a lock file's path.
    enum Content: Equatable {
        /// No file, or not a whole lock file of a store.
        case other
        case whole(hasWorkers: Bool)
        /// The lock file of living workers, into whose first line another program has written.
        case damaged

        var hasWorkers: Bool {
            switch self {
            case .other: false
            case .whole(let hasWorkers): hasWorkers
            case .damaged: true
            }
        }
    }

    /// Reads whether a whole lock file of a store is there, and whether other open stores use it; changes nothing.
    static func content(at path: String) -> Content {
        guard let file = OpenFile(path, O_RDONLY), let bytes = file.read(Self.magic.count + 1) else { return .other }
        let hasWorkers = ByteLock.isAnyHeldByAnother(file.descriptor, Self.workerBytes)
        // Only workers of a store lock these bytes: the file is theirs, whatever its first line is now.
        if bytes == Self.magic { return .whole(hasWorkers: hasWorkers) }
        return hasWorkers ? .damaged : .other
    }

    /// Whether a lock file of a store is there; changes nothing.
    static func exists(at path: String) -> Bool { Self.content(at: path) != .other }

    /// Whether a link holds its byte; changes nothing.
    static func isLinkTaken(at path: String) -> Bool {
        guard let file = OpenFile(path, O_RDONLY) else { return false }
        return ByteLock.isHeldByAnother(file.descriptor, Self.link)
    }

    /// Writes the first line of a file that has none yet; throws if the file is not a store's.
    ///
    /// - Returns: whether the first line is damaged, although living workers use the file.
    private static func completeMagic(of file: borrowing OpenFile, _ path: String) throws(BreakerStoreError) -> Bool {
        let bytes = file.read(Self.magic.count + 1)
        if bytes == Self.magic { return false }
        // A file whose creation was cut short has only the beginning of the content. After a power cut the file may
        // have its size but none of its bytes: they are zero.
        guard let bytes, bytes.count <= Self.magic.count,
            Self.magic.starts(with: bytes) || bytes.allSatisfy({ $0 == 0 })
        else {
            if bytes != nil, ByteLock.isAnyHeldByAnother(file.descriptor, Self.workerBytes) { return true }
            throw BreakerStoreError(
                code: .unsafePath,
                message: "its -lock is not a store's lock file",
                advice: "remove that -lock file, or name another path",
                path: path
            )
        }
        guard file.write(Self.magic) else { throw BreakerStoreError(systemError: errno, doing: "write", path: path) }
        Hook.reached("lock.written")
        return false
    }

    /// Writes the first line over what another program has written into the file; the caller holds the setup lock.
    ///
    /// If this fails, this process uses the file all the same, and the next opening repairs it.
    private func repair() {
        let count = Self.magic.count
        guard unsafe pwrite(self.descriptor, Self.magic, count, 0) == count else { return }
        ftruncate(self.descriptor, off_t(count))
    }

    /// The number of the open file.
    var number: FoundFile.Number? { FoundFile(descriptor: self.descriptor)?.number }

    /// Whether the path still leads to this file: another program may have removed it.
    var isInPlace: Bool { self.number.map { $0 == FoundFile(self.path)?.number } ?? false }

    /// Acquires the setup lock for the calling thread, without waiting; false if another thread or process has it.
    private func acquireSetupLock() -> Bool {
        guard
            self.hasSetupLock.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
                .exchanged
        else { return false }
        if ByteLock.lock(self.descriptor, at: 0) { return true }
        self.hasSetupLock.store(false, ordering: .releasing)
        return false
    }

    private func releaseSetupLock() {
        ByteLock.unlock(self.descriptor, at: 0)
        self.hasSetupLock.store(false, ordering: .releasing)
    }

    /// Runs `body` while no other thread and no other process opens, migrates, repairs or checkpoints the store, or
    /// changes its board.
    ///
    /// Blocks until the lock is free, and throws `busy` at the deadline. The lock is not recursive: `body` must not
    /// acquire it again.
    func withSetupLock<Result>(
        until deadline: Deadline,
        _ body: () throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> Result {
        while !self.acquireSetupLock() {
            guard !deadline.isOver else {
                throw BreakerStoreError(
                    code: .busy,
                    message: "timed out: another process is opening or repairing the store",
                    advice: "try again",
                    path: self.path
                )
            }
            deadline.pause(atMost: .milliseconds(2))
        }
        defer { self.releaseSetupLock() }
        if self.needsRepair.exchange(false, ordering: .relaxed) { self.repair() }
        return try body()
    }

    /// The byte of the link, which joins this store's circuits to those of other hosts.
    static let link: ByteIndex = 1

    /// Locks the byte of the link; false if another link has it.
    func lockLink() -> Bool { ByteLock.lock(self.descriptor, at: Self.link) }

    func unlockLink() { ByteLock.unlock(self.descriptor, at: Self.link) }

    /// The range of workers' ids, each of which is also the offset of a byte, far from the file's other bytes.
    static let workers = WorkerID(1 << 32)..<WorkerID(1 << 62)

    /// The bytes of all workers.
    private static let workerBytes =
        ByteIndex(of: LockFile.workers.lowerBound)..<ByteIndex(of: LockFile.workers.upperBound)

    /// Locks the byte of a worker; false if another open store has it.
    func lock(worker: WorkerID) -> Bool { ByteLock.lock(self.descriptor, at: ByteIndex(of: worker)) }

    func unlock(worker: WorkerID) { ByteLock.unlock(self.descriptor, at: ByteIndex(of: worker)) }

    /// A further descriptor of the open file, with all its locks: while another process has it, the locks stay.
    ///
    /// Nil if this process has no descriptor left. No program that this process runs inherits it by itself.
    func duplicateDescriptor() -> OpenFile? { OpenFile(duplicating: self.descriptor) }

    /// Locks the bytes of a worker that can't use the store's file; false if another open store has one of them.
    func lock(_ degraded: DegradedBytes) -> Bool {
        let (start, count) = degraded.bytes
        guard ByteLock.lock(self.descriptor, at: start, count: count) else { return false }
        // The number of locked bytes shows the reason: a reason with a lower number must shorten the lock.
        if degraded.unusedCount > 0 {
            ByteLock.unlock(self.descriptor, at: start.advanced(by: count), count: degraded.unusedCount)
        }
        return true
    }

    func unlock(_ degraded: DegradedBytes) {
        let (start, count) = degraded.bytes
        ByteLock.unlock(self.descriptor, at: start, count: count)
    }

    /// Whether another open store may use the file.
    var hasOtherWorkers: Bool { ByteLock.isAnyHeldByAnother(self.descriptor, Self.workerBytes) }

    /// Whether another open store holds the worker's byte.
    ///
    /// If the kernel can't say, the worker counts as alive: a slot that is kept too long becomes free when its lease
    /// ends, but nothing undoes a second probe at the same time.
    func isHeldByAnother(worker: WorkerID) -> Bool {
        Self.isHeldByAnother(self.descriptor, worker: worker)
    }

    /// The same for a lock file that is only read.
    static func isHeldByAnother(_ descriptor: Int32, worker: WorkerID) -> Bool {
        if let process = RunningProcess(reporter: worker) { return process.isRunning }
        // An id outside the range was written by another program.
        return Self.workers.contains(worker) && ByteLock.isHeldByAnother(descriptor, ByteIndex(of: worker))
    }
}
