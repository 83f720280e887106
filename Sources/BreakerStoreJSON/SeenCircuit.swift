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
    /// How often the circuit has tripped within the last hour.
    package var tripsWithinHour = 0
    /// The newest outages, the newest first; empty in a document that does not show them.
    package var outages: [SeenOutage] = []
    /// The probes that have lost their slots, if the document shows them, and whether their processes have ended.
    package var lostProbes: [(probe: CircuitSnapshot.Probe, isDead: Bool)] = []
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

/// An outage as the history shows it.
package struct SeenOutage: Sendable {
    package var circuit: String
    package var start: Date
    /// Nil while the outage lasts.
    package var end: Date?
    /// Whether the outage is known to have begun at `start`, and not before.
    package var isStartKnown: Bool
    /// Whether it ended at `end`, or lasts; else it ended before, or may last.
    package var isEndKnown: Bool
    /// The calls that failed or were refused; nil where counts were lost, or the history does not have them.
    package var hurt: CircuitSnapshot.Hurt?
    /// Whether `hurt` is complete: all processes have published what they refused before the end.
    package var isSettled: Bool
    package var failedProbes: Int
    /// What ended it, in words; nil while it lasts, and where unknown.
    package var endedBy: String?

    package init(
        circuit: String, start: Date, end: Date?, isStartKnown: Bool, isEndKnown: Bool, hurt: CircuitSnapshot.Hurt?,
        isSettled: Bool,
        failedProbes: Int, endedBy: String?
    ) {
        self.circuit = circuit
        self.start = start
        self.end = end
        self.isStartKnown = isStartKnown
        self.isEndKnown = isEndKnown
        self.hurt = hurt
        self.isSettled = isSettled
        self.failedProbes = failedProbes
        self.endedBy = endedBy
    }
}
