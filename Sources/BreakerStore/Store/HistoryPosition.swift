/// A place in the history: of which file, since others may lie there one after the other; after which event.
struct HistoryPosition: Hashable, Sendable {
    var file: UInt64
    var id: Int64
}
