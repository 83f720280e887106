import Synchronization

/// Says when a file has grown by so much that the store's thread looks for keys which are too long to be read.
///
/// SQLite reads a key of an index as a whole, in each transaction that comes by the key. An opening looks for such keys
/// where nobody else has the file open. A key that somebody puts into a file in use makes that file grow.
final class FileGrowth: Sendable {
    /// A shorter key takes no more memory than a service can spare.
    private static let mostUnseen: Int64 = 16 << 20

    private let seen = Atomic<Int64>(0)

    /// The file was opened, or looked through, when it had so many bytes.
    func wasSeen(at size: Int64) { self.seen.store(size, ordering: .relaxed) }

    /// The file is smaller now.
    ///
    /// What makes it grow again has not been looked through, even up to the former size.
    func hasShrunk(to size: Int64) { if size < self.seen.load(ordering: .relaxed) { self.wasSeen(at: size) } }

    func isLookDue(at size: Int64) -> Bool {
        size.subtractingSaturating(self.seen.load(ordering: .relaxed)) > Self.mostUnseen
    }
}
