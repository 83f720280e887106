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
/// There is one byte more than the number of the reason, so that the lock also says why.
struct DegradedBytes: Hashable, Sendable {
    var worker: Int64
    /// Nil if the reason is unknown.
    var reason: BreakerStoreError.Code?

    /// Bytes below are those of workers that live.
    private static let distance: Int64 = 1 << 62
    /// No lock is longer; a program that locks more says nothing about a reason.
    private static let mostBytes: Int64 = 64
    /// More workers are not read: a program that locks very many bytes must not keep a reader for long.
    private static let mostRead = 4_000

    fileprivate static let all = LockFile.workers.lowerBound + Self.distance..<Int64.max

    init(worker: Int64, reason: BreakerStoreError.Code?) {
        self.worker = worker
        self.reason = reason
    }

    fileprivate init(_ lock: Range<Int64>) {
        self.worker = lock.lowerBound - Self.distance
        self.reason = BreakerStoreError.Code(number: UInt64(lock.upperBound - lock.lowerBound - 1))
    }

    var bytes: (start: Int64, count: Int64) { (self.worker + Self.distance, Int64(self.reason?.number ?? 0) + 1) }

    /// How many bytes behind them would name another reason.
    var countBehind: Int64 { min(Self.mostBytes, .max - self.bytes.start) - self.bytes.count }

    /// The bytes that other descriptions have locked in the lock file at a path; changes nothing.
    static func found(at path: String) -> [DegradedBytes] {
        guard let file = OpenFile(path, O_RDONLY) else { return [] }
        return ByteLock.heldByOthers(file.descriptor, Self.all, atMost: Self.mostRead).map(DegradedBytes.init)
    }
}
