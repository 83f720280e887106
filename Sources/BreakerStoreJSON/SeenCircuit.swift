package import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A circuit as a look at the store has found it.
package struct SeenCircuit: Sendable {
    package var snapshot: CircuitSnapshot
    /// How many failures tripped the circuit; nil where no outage lasts, or its trip is not known.
    package var failuresAtTrip: Int?
    /// Why the circuit tripped when the outage began that lasts, if that is known.
    package var tripReason: String?
    /// The time of the look.
    package var now: Date

    package init(_ snapshot: CircuitSnapshot, failuresAtTrip: Int? = nil, tripReason: String? = nil, at now: Date) {
        self.snapshot = snapshot
        self.failuresAtTrip = failuresAtTrip
        self.tripReason = tripReason
        self.now = now
    }
}
