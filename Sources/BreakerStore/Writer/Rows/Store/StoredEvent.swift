/// A row of the history.
struct StoredEvent: Sendable {
    var id: Int64
    var circuit: String?
    var transition: Transition
    var at: StoreTime
    var worker: Worker?
    var by: String?
    /// The calls of the window generation that the event ended; nil if it ended none, and where unknown.
    var ended: CircuitRow.FailedAndRefused?
}
