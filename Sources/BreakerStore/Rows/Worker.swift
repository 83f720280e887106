/// This process's place among those who share the file: one for each open store.
struct Worker: Sendable, Hashable {
    var id: Int64
    var name: String
    var pid: Int32

    /// Never reused, and away from the offsets that a lock file's own bytes have.
    static let ids: Range<Int64> = (1 << 32)..<(1 << 62)
}
