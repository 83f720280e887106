import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The holds of other operators that a change would end: the operator is asked about them.
struct OtherHolds {
    private static let linesShown = 20

    private let circuits: [InspectedCircuit]
    private let who: String

    /// - Parameters:
    ///   - circuits: the circuits that are to be changed.
    ///   - who: the operator who changes them.
    init(of circuits: [InspectedCircuit], than who: String) {
        self.who = who
        self.circuits = circuits.filter { circuit in
            circuit.snapshot.hold.map { !Self.isOwn($0.by, of: who) } ?? false
        }
    }

    var isEmpty: Bool { self.circuits.isEmpty }
    var count: Int { self.circuits.count }

    /// A line for each of the first holds: whose it is, since when and why.
    var lines: [String] {
        let lines = self.circuits.prefix(Self.linesShown).map(Self.line)
        let hidden = self.circuits.count - lines.count
        return hidden > 0 ? lines + ["and \(hidden) more"] : lines
    }

    private static func line(_ circuit: InspectedCircuit) -> String {
        guard let hold = circuit.snapshot.hold else { return circuit.snapshot.name.escaped }
        let by = hold.by?.escaped ?? "nobody that is known"
        let reason = hold.reason.map { ": \($0.escaped)" } ?? ""
        return "\(circuit.snapshot.name.escaped) is held \(hold.state.rawValue) by \(by) since "
            + "\(circuit.now.since(hold.since).brief())\(reason)"
    }

    /// Lets a change end the operator's own holds, and those that the operator was asked about.
    var check: OperatorAction.HoldCheck {
        let asked = Set(self.circuits.map { [Array($0.snapshot.name.utf8), Array(($0.snapshot.hold?.by ?? "").utf8)] })
        let who = self.who
        return { circuit, by in
            Self.isOwn(by, of: who) || asked.contains([Array(circuit.utf8), Array((by ?? "").utf8)])
        }
    }

    /// Whether a hold is the operator's own, put on at this host or at another one.
    private static func isOwn(_ by: String?, of who: String) -> Bool {
        guard let by else { return false }
        return by.utf8.elementsEqual(who.utf8) || by.utf8.elementsEqual(LinkOrder.fleet(for: who).utf8)
    }
}
