import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What `list` shows of a circuit.
extension Table {
    static func circuits() -> Table {
        let columns: [Column] = [
            .init(title: "NAME", minimumWidth: 16, isName: true), .init(title: "STATE"),
            .init(title: "OUTAGE", isRightAligned: true),
            .init(title: "SINCE", isRightAligned: true, presence: .whereItFits),
            .init(title: "FAILURES", isRightAligned: true, presence: .whereItFits),
            .init(title: "RETRY-IN", isRightAligned: true),
            .init(title: "TRIPS", isRightAligned: true, presence: .whereRoomy),
            .init(title: "REFUSED", isRightAligned: true, presence: .whereRoomy),
            .init(title: "LAST-ERROR", minimumWidth: 12),
        ]
        return Table(columns: columns, isSorted: true)
    }

    /// Adds a circuit, behind those that are as urgent.
    mutating func append(_ inspected: InspectedCircuit) {
        let (circuit, now) = (inspected.snapshot, inspected.now)
        let word = circuit.stateWord
        self.append(
            [
                .init(text: circuit.name.escaped),
                .init(text: word.rawValue, look: word.look),
                .init(text: circuit.trippedSince.map { now.since($0).brief() } ?? "-"),
                .init(text: now.since(circuit.since).brief()),
                .init(text: inspected.failuresText),
                .init(text: Self.retry(circuit, at: now)),
                .init(text: "\(circuit.tripsInARow)"),
                .init(text: "\(circuit.refusals)"),
                .init(text: circuit.lastError?.escaped ?? "-"),
            ],
            rank: word.urgency
        )
    }

    private static func retry(_ circuit: CircuitSnapshot, at now: Date) -> String {
        guard let retryAt = circuit.retryAt else { return "-" }
        let left = retryAt.since(now)
        return left > .zero ? left.brief(roundsUp: true) : "now"
    }
}

extension InspectedCircuit {
    /// The state that calls meet, or that they would meet without a hold.
    private var unheld: CircuitState { self.snapshot.beneath ?? self.snapshot.state }

    /// The failures that count, or that have tripped the circuit, of those that it takes.
    fileprivate var failuresText: String {
        let failures = self.unheld.isClosed ? self.snapshot.failures : self.tripFailures
        return failures.map { "\($0.count)/\(self.snapshot.failureLimit.map(String.init) ?? "?")" } ?? "-"
    }
}
