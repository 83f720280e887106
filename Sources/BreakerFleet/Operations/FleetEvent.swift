#if PostgreSQL

/// A change of a circuit, as the server keeps it.
package struct FleetEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case opened, reopened, closed, reset, released
        case heldOpen = "held-open"
        case heldClosed = "held-closed"
        /// An operator has allowed a probe.
        case probeOrdered = "probe-ordered"
        /// A single host has opened the circuit by its own rule.
        case ownTrip = "own-trip"
        /// The circuit that the host had opened by its own rule is no longer open by it.
        case ownEnd = "own-end"
    }

    package var kind: Kind
    /// How long ago it was, in microseconds.
    package var age: Int64
    /// The host that has reported it; nil for a command that was given at the server.
    package var host: String?
    /// The operator.
    package var by: String?
    package var reason: String?
}
#endif
