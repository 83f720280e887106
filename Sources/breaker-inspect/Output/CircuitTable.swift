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
            .init(title: "NAME", minimumWidth: 16), .init(title: "STATE"),
            .init(title: "FAILURES", isRightAligned: true), .init(title: "SINCE", isRightAligned: true),
            .init(title: "RETRY-IN", isRightAligned: true), .init(title: "LAST-ERROR", minimumWidth: 12),
        ]
        return Table(columns: columns, isSorted: true)
    }

    /// Adds a circuit, behind those that are as urgent.
    mutating func append(_ circuit: CircuitSnapshot, at now: Date) {
        let word = circuit.stateWord
        self.append(
            [
                .init(text: circuit.name.escaped),
                .init(text: word.rawValue, look: word.look),
                .init(text: "\(circuit.failures.count)/\(circuit.failureLimit.map(String.init) ?? "?")"),
                .init(text: "\(max(.zero, now.since(circuit.since)).readable) ago"),
                .init(text: Self.retry(circuit, at: now)),
                .init(text: circuit.lastError?.escaped ?? "-"),
            ],
            rank: word.urgency
        )
    }

    private static func retry(_ circuit: CircuitSnapshot, at now: Date) -> String {
        guard let retryAt = circuit.retryAt else { return "-" }
        let left = retryAt.since(now)
        return left > .zero ? left.readable : "now"
    }
}
