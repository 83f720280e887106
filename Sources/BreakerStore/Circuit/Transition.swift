/// One thing that happened to a circuit, as the history tells it.
struct Transition: Hashable, Sendable {
    var kind: CircuitEvent.Kind
    var from: String?
    var to: String?
    var reason: String?
}
