/// A position in the history of a file: the event that a reader has read last.
struct EventCursor: Hashable, Sendable {
    /// The file's incarnation; nil if the reader has not read a file yet.
    var incarnation: Int64?
    /// The event's row id; nil: the reader begins where listening to the file began (`EventSource.origin`).
    var id: Int64?
    /// The event's time, which reveals a restored backup, because that repeats row ids; nil if it is unknown.
    var at: StoreTime?
}

extension StoreView {
    /// A cursor for a reader that knows all events up to `id`; nil: all events up to now.
    func cursor(after id: CircuitEvent.ID?) throws(BreakerStoreError) -> EventCursor {
        let id = if let id { try self.database.start(after: id) } else { try self.database.newestEvent() }
        return EventCursor(incarnation: self.incarnation, id: id, at: try self.database.time(ofEvent: id))
    }
}
