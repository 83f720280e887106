#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The bytes of a lock file by which a worker shows that it can't use the store's file.
///
/// Such a worker may be unable to write anywhere: the disk is full, or the file belongs to a later release. It needs no
/// disk to lock bytes, and the kernel frees them when the process ends. The bytes of worker *id* begin at *id* + 2^62.
/// There is one byte more than the number of the reason, so that the length of the lock shows the reason.
struct DegradedBytes: Hashable, Sendable {
    var worker: WorkerID
    /// Nil if the reason is unknown.
    var reason: BreakerStoreError.Code?

    /// How far a worker's bytes here lie above the byte that shows that the worker lives.
    private static let distance: Int64 = 1 << 62
    /// The most bytes of one worker: no reason ever has a higher number.
    private static let maxBytes: Int64 = 64
    /// The most workers that are read: a program that locks very many bytes must not keep a reader for long.
    private static let maxRead = 4_000

    fileprivate static let all = Self.start(of: LockFile.workers.lowerBound)..<ByteIndex(.max)

    init(worker: WorkerID, reason: BreakerStoreError.Code?) {
        self.worker = worker
        self.reason = reason
    }

    fileprivate init(_ lock: Range<ByteIndex>) {
        self.worker = WorkerID(lock.lowerBound.rawValue - Self.distance)
        self.reason = BreakerStoreError.Code(number: UInt64(lock.count - 1))
    }

    private static func start(of worker: WorkerID) -> ByteIndex { ByteIndex(of: worker).advanced(by: Self.distance) }

    var bytes: (start: ByteIndex, count: Int64) { (Self.start(of: self.worker), Int64(self.reason?.number ?? 0) + 1) }

    /// How many of the worker's bytes follow `bytes`: only a reason with a higher number locks any of them.
    var unusedCount: Int64 { min(Self.maxBytes, .max - self.bytes.start.rawValue) - self.bytes.count }

    /// The bytes that other descriptions have locked in the lock file at a path; changes nothing.
    static func found(at path: String) -> [DegradedBytes] {
        guard let file = OpenFile(path, O_RDONLY) else { return [] }
        return ByteLock.heldByOthers(file.descriptor, Self.all, atMost: Self.maxRead).map(DegradedBytes.init)
    }
}
