/// A place in the history: an event of one file.
///
/// Several files may lie at the store's path, one after the other; this process numbers them.
struct HistoryPosition: Hashable, Sendable {
    var file: UInt64
    var id: Int64
}
