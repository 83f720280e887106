/// A row of the history.
struct StoredEvent: Sendable {
    var id: Int64
    var circuit: String?
    var transition: Transition
    var at: StoreTime
    var worker: Worker?
    var by: String?
}
