package import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A circuit as read from the store.
package struct SeenCircuit: Sendable {
    package var snapshot: CircuitSnapshot
    /// How many failures tripped the circuit; nil without an outage, or if its trip is unknown.
    package var failuresAtTrip: Int?
    /// Why the circuit tripped when the current outage began, if known.
    package var tripReason: String?
    /// The rules as they are stored; null if the text is no JSON, or if the document does not show them.
    package var rules = JSONValue.null
    /// The time at which the circuit was read.
    package var now: Date

    package init(
        _ snapshot: CircuitSnapshot, failuresAtTrip: Int? = nil, tripReason: String? = nil,
        at now: Date
    ) {
        self.snapshot = snapshot
        self.failuresAtTrip = failuresAtTrip
        self.tripReason = tripReason
        self.now = now
    }
}
