#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A circuit's snapshot, with further facts for operators.
package struct InspectedCircuit: Sendable, Hashable {
    package var snapshot: CircuitSnapshot
    /// The times of the failures that tripped the circuit, oldest first; nil without an outage, or if its trip is
    /// unknown.
    package var tripFailures: [Date]?
    /// Why the circuit tripped.
    package var tripReason: String?
    /// How many of the calls within the window had failed when a failure rate opened the circuit; nil without an
    /// outage, or if another rule opened the circuit.
    package var tripRate: TripRate?
    /// The probes that have lost their slots and not been swept yet: their time is over, or their process has ended.
    package var lostProbes: [LostProbe] = []
    /// The calls since the last change of state that an outage has hurt, also after its end: the refusals that were
    /// published late.
    package var hurtSinceChange: CircuitSnapshot.Hurt?
    /// How often the circuit has tripped within the last hour, as far as the history reaches back.
    package var tripsWithinHour = 0
    /// Whether a call would be refused now.
    package var isRefusing = false
    /// The rules as the state machine uses them.
    var storedRules = Rules.defaults
    /// The rules as they are stored; nil if the text is no JSON.
    ///
    /// Computed on demand: a list of many circuits does without it.
    package var rules: ScannedValue? { try? JSONScanner.value(of: Array(self.storedRules.text.utf8)) }
    /// The time to which the description applies.
    ///
    /// Converted like the snapshot's dates, so that the time between them is right even after the wall clock was set.
    package var now: Date

    /// The calls by which a failure rate opened a circuit.
    package struct TripRate: Sendable, Hashable {
        package var failed: Int64
        package var calls: Int64
    }

    /// How far back trips are counted.
    package static let tripWindow = Duration.seconds(3_600)

    /// A probe that has lost its slot.
    package struct LostProbe: Sendable, Hashable {
        package var probe: CircuitSnapshot.Probe
        /// Whether its process has ended; else its time was over.
        package var isDead: Bool
    }

    package init(
        snapshot: CircuitSnapshot, tripFailures: [Date]? = nil, tripReason: String? = nil, tripRate: TripRate? = nil,
        now: Date
    ) {
        self.snapshot = snapshot
        self.tripFailures = tripFailures
        self.tripReason = tripReason
        self.tripRate = tripRate
        self.now = now
    }
}

/// A circuit whose row no version of this library can have written.
package struct UnreadableCircuit: Sendable, Hashable {
    /// The name, with U+FFFD for bytes that are not UTF-8.
    package var name: String
    /// Whether a selector gave its name, not only a pattern.
    package var isNamed: Bool
    /// How many live workers have registered it.
    package var workers: Int
}

extension StoredCircuit {
    /// The times of the failures that led to the trip; they stay in the file until the circuit closes.
    private var failuresAtTrip: [StoreTime]? {
        self.row.circuit.trippedSince.map { self.failures(at: $0).map(\.at) }
    }

    private var tripRate: InspectedCircuit.TripRate? {
        let circuit = self.row.circuit
        guard case .failureRate = circuit.rules.trip.kind, let trip = circuit.trip, let failed = trip.failed,
            let calls = trip.calls, calls > 0
        else { return nil }
        // Of a failure-rate rule and a slow-call rule, only the reason shows which one tripped the circuit.
        guard circuit.rules.slow == nil || !(trip.reason?.contains(" took longer than ") ?? false) else { return nil }
        return InspectedCircuit.TripRate(failed: failed, calls: calls)
    }

    private func isRefusing(at moment: ReadingMoment) -> Bool {
        var circuit = self.row.circuit
        circuit.clampFutureStamps(for: moment.now)
        switch circuit.answer(at: moment.now, isAlive: moment.isAlive) {
        case .refuse: return true
        case .proceed, .uncounted, .observe, .claim: return false
        }
    }

    func inspected(at moment: ReadingMoment) -> InspectedCircuit {
        var inspected = InspectedCircuit(
            snapshot: CircuitSnapshot(self, at: moment), tripFailures: self.failuresAtTrip?.map(moment.date),
            tripReason: self.row.circuit.trip?.reason, tripRate: self.tripRate, now: moment.nowDate)
        inspected.storedRules = self.row.circuit.rules
        inspected.isRefusing = self.isRefusing(at: moment)
        inspected.lostProbes = self.row.circuit.probes.compactMap { probe in
            let isDead = !moment.isAlive(probe.worker)
            guard isDead || probe.leaseEnds <= moment.now else { return nil }
            return InspectedCircuit.LostProbe(probe: CircuitSnapshot.Probe(probe, moment.date), isDead: isDead)
        }
        let start = moment.now.subtracting(InspectedCircuit.tripWindow.saturatingMicroseconds)
        inspected.tripsWithinHour = self.trips.count { $0 >= start }
        inspected.hurtSinceChange = self.callsOfGeneration.map {
            CircuitSnapshot.Hurt($0.hurt(in: self.row.circuit))
        }
        return inspected
    }
}
