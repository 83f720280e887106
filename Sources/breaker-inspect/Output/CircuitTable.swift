import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The columns and rows of `list`.
extension Table {
    static func circuits() -> Table {
        let columns: [Column] = [
            .init(title: "NAME", isName: true), .init(title: "STATE"),
            .init(title: "OUTAGE", isRightAligned: true),
            .init(title: "SINCE", isRightAligned: true, presence: .whereRoomy),
            .init(title: "FAILURES", isRightAligned: true, presence: .whereRoomy),
            .init(title: "CALLS/S", isRightAligned: true, presence: .whereRoomy, isLeftOutEmpty: true),
            .init(title: "FAILED-%", isRightAligned: true, presence: .whereRoomy, isLeftOutEmpty: true),
            .init(title: "RETRY-IN", isRightAligned: true),
            .init(title: "TRIPS", isRightAligned: true, presence: .whereItFits),
            .init(title: "REFUSED", isRightAligned: true, presence: .whereItFits),
            .init(title: "LAST-ERROR", minimumWidth: 12, presence: .whereItFits),
        ]
        return Table(columns: columns, isSorted: true)
    }

    /// Adds a circuit; the rows are ordered by urgency, then by name.
    mutating func append(_ inspected: InspectedCircuit) {
        let (circuit, now) = (inspected.snapshot, inspected.now)
        let standing = circuit.standing
        self.append(
            [
                .init(text: circuit.name.escaped),
                .init(text: standing.text, look: standing.look),
                .init(text: circuit.trippedSince.map { now.since($0).brief() } ?? "-"),
                .init(text: now.since(circuit.since).brief()),
                .init(text: inspected.failuresText),
                .init(text: circuit.recent?.callsPerSecond ?? "-"),
                .init(text: inspected.failedPercent ?? "-"),
                .init(text: Self.retry(circuit, at: now)),
                .init(text: "\(inspected.tripsWithinHour)"),
                .init(text: "\(circuit.refusals)"),
                .init(text: circuit.hold.map { "held\($0.details(at: now))" } ?? circuit.lastError?.escaped ?? "-"),
            ],
            rank: standing.urgency
        )
    }

    private static func retry(_ circuit: CircuitSnapshot, at now: Date) -> String {
        guard let retryAt = circuit.retryAt else { return "-" }
        let left = retryAt.since(now)
        return left > .zero ? left.brief(roundsUp: true) : "now"
    }
}

extension InspectedCircuit {
    /// A trip begins a new window: until the circuit closes, the calls that opened it are more useful.
    private var rateAtTrip: TripRate? { self.snapshot.unheldState.isClosed ? nil : self.tripRate }

    /// The failure rate within the window, or at the trip.
    fileprivate var failedPercent: String? {
        guard let rate = self.rateAtTrip else { return self.snapshot.failedRate }
        return CallRate.percent(Double(rate.failed) / Double(rate.calls))
    }

    /// The failures that count, or that tripped the circuit, and its limit; under a failure-rate rule, the failures
    /// and calls within its window, or those of the trip.
    fileprivate var failuresText: String {
        if self.snapshot.config.trip.share != nil {
            if let rate = self.rateAtTrip { return "\(rate.failed)/\(rate.calls)" }
            guard self.snapshot.unheldState.isClosed, let recent = self.snapshot.recent else { return "-" }
            return "\(recent.failed)/\(recent.calls)"
        }
        let failures = self.snapshot.unheldState.isClosed ? self.snapshot.failures : self.tripFailures
        return failures.map { "\($0.count)/\(self.snapshot.failureLimit.map(String.init) ?? "?")" } ?? "-"
    }
}
