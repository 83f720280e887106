import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The holds of other operators that a change would end, and about which the tool asks first.
struct OtherHolds {
    private static let linesShown = 20

    /// A held circuit and the hold's operator.
    private struct Hold: Hashable {
        var circuit: [UInt8]
        var by: [UInt8]

        init(_ circuit: String, _ by: String?) {
            (self.circuit, self.by) = (Array(circuit.utf8), Array((by ?? "").utf8))
        }
    }

    private let who: String
    private var holds: Set<Hold> = []
    /// The first holds that were found.
    private var firstLines: [String] = []

    /// - Parameter who: the operator who changes the circuits.
    init(than who: String) { self.who = who }

    /// Adds a circuit that is to be changed, if another operator holds it.
    mutating func add(_ circuit: InspectedCircuit) {
        guard let hold = circuit.snapshot.hold, !Self.isOwn(hold.by, of: self.who) else { return }
        self.holds.insert(Hold(circuit.snapshot.name, hold.by))
        if self.firstLines.count < Self.linesShown { self.firstLines.append(Self.line(circuit, hold)) }
    }

    var isEmpty: Bool { self.holds.isEmpty }
    var count: Int { self.holds.count }

    /// A line for each of the first holds: its operator, its time and its reason.
    var lines: [String] {
        let hidden = self.count - self.firstLines.count
        return self.firstLines.sorted() + (hidden > 0 ? ["and \(hidden) more"] : [])
    }

    private static func line(_ circuit: InspectedCircuit, _ hold: CircuitSnapshot.Hold) -> String {
        let unknown = hold.by == nil ? " by an unknown operator" : ""
        return "\(circuit.snapshot.name.escaped) is held \(hold.state.rawValue)\(unknown)"
            + hold.details(at: circuit.now)
    }

    /// The check that lets a change end the operator's own holds, and those that the operator was asked about.
    var check: OperatorAction.HoldCheck {
        { [who, holds] circuit, by in Self.isOwn(by, of: who) || holds.contains(Hold(circuit, by)) }
    }

    /// Whether a hold is the operator's own, set on this host or on another one.
    private static func isOwn(_ by: String?, of who: String) -> Bool {
        guard let by else { return false }
        return by.utf8.elementsEqual(who.utf8) || by.utf8.elementsEqual(LinkOrder.fleet(for: who).utf8)
    }
}
