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
            .init(title: "SINCE", isRightAligned: true, presence: .whereItFits),
            .init(title: "FAILURES", isRightAligned: true, presence: .whereItFits),
            .init(title: "CALLS/S", isRightAligned: true, presence: .whereRoomy, isLeftOutEmpty: true),
            .init(title: "FAILED-%", isRightAligned: true, presence: .whereRoomy, isLeftOutEmpty: true),
            .init(title: "RETRY-IN", isRightAligned: true),
            .init(title: "TRIPS", isRightAligned: true, presence: .whereRoomy),
            .init(title: "REFUSED", isRightAligned: true, presence: .whereRoomy),
            .init(title: "LAST-ERROR", minimumWidth: 12, presence: .whereItFits),
        ]
        return Table(columns: columns, isSorted: true)
    }

    /// Adds a circuit: rows stand by urgency, then by name.
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
                .init(text: "\(circuit.tripsInARow)"),
                .init(text: "\(circuit.refusals)"),
                .init(text: circuit.lastError?.escaped ?? "-"),
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
    /// The state that calls meet, or would meet without a hold.
    private var unheld: CircuitState { self.snapshot.beneath ?? self.snapshot.state }

    /// A trip begins the window again: until the circuit is closed, the calls that opened it say more.
    private var rateAtTrip: TripRate? { self.unheld.isClosed ? nil : self.tripRate }

    /// The share of failed calls within the window, or at the trip.
    fileprivate var failedPercent: String? {
        guard let rate = self.rateAtTrip else { return self.snapshot.failedShare }
        return CallShare.percent(Double(rate.failed) / Double(rate.calls))
    }

    /// The failures that count, or that tripped the circuit, of its limit; under a rule about a share, the failures
    /// within its window, of the calls there, or those of the trip.
    fileprivate var failuresText: String {
        if self.snapshot.config.trip.share != nil {
            if let rate = self.rateAtTrip { return "\(rate.failed)/\(rate.calls)" }
            guard self.unheld.isClosed, let recent = self.snapshot.recent else { return "-" }
            return "\(recent.failed)/\(recent.calls)"
        }
        let failures = self.unheld.isClosed ? self.snapshot.failures : self.tripFailures
        return failures.map { "\($0.count)/\(self.snapshot.failureLimit.map(String.init) ?? "?")" } ?? "-"
    }
}
