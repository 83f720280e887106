import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The outages and probes of a circuit.
extension CircuitDetail {
    /// The newest outage that is over.
    var lastOutage: String? {
        guard let last = self.outages.first(where: { $0.end != nil }), let end = last.end else { return nil }
        let length = max(.zero, end.since(last.start)).readable
        let lasted = last.isStartKnown ? length : "more than \(length)"
        return "\(last.start.readable), \(lasted): \(last.briefHurtCalls)"
    }

    /// How often the circuit has tripped lately, if it flaps.
    var flapping: [String]? {
        guard self.inspected.flaps else { return nil }
        let recent = self.outages.filter { self.now.since($0.start) <= InspectedCircuit.tripWindow && $0.isStartKnown }
        guard let first = recent.last else { return nil }
        let lengths = recent.compactMap { outage in outage.end.map { max(.zero, $0.since(outage.start)) } }
        let ends = [lengths.min(), lengths.max()].compactMap { $0?.readable }
        let usual = ends.first.map { $0 == ends.last ? ", \($0) each" : ", \($0) to \(ends[1]) each" } ?? ""
        let end = recent.first?.end.map { "the last \(max(.zero, self.now.since($0)).readable) ago" } ?? "one lasts"
        return [
            "\(recent.count) within the last \(self.now.since(first.start).brief())\(usual), \(end)",
            "it flaps: see '\(Tool.name) history \(self.circuit.name.asArgument) --outages'",
        ]
    }

    func line(_ probe: CircuitSnapshot.Probe) -> String {
        "\(probe.prober.escaped), for \(max(.zero, self.now.since(probe.since)).readable); its slot is free in "
            + "\(self.left(until: probe.leaseEnds)), or at once if that process ends"
    }

    func line(_ lost: InspectedCircuit.LostProbe) -> String {
        let prober = lost.probe.prober.escaped
        guard !lost.isDead else { return "\(prober) has ended before it reported; its slot is free" }
        let lease = max(.zero, lost.probe.leaseEnds.since(lost.probe.since)).readable
        return "\(prober) did not report within \(lease); its slot is free"
    }
}

extension InspectedCircuit {
    /// How many trips within an hour make a circuit flap.
    private static let flappingTrips = 3

    /// Whether the circuit opens and closes in turn, so that its state says little about the service.
    var flaps: Bool { self.tripsWithinHour >= Self.flappingTrips }
}
