import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `list`: a line for each circuit.
struct ListVerb: Verb {
    static let name = "list"
    static let synopsis = "[PATTERN…]"
    static let summary = "show the circuits, those that refuse calls first"
    static let details = """
        A PATTERN is a circuit's name, or a text with *, ? or [ in it that names may match.
        FAILURES are those that count now, of those that trip the circuit.
        """
    static let options: [Option] = [.state, .group, .exact]

    private let selection: Selection
    private let states: Set<StateWord>
    private let group: String?

    init(_ arguments: Arguments) throws(Failure) {
        self.selection = Selection(arguments.operands, isExact: arguments.has(.exact))
        self.states = try arguments[.state].map(Self.states) ?? Set(StateWord.allCases)
        self.group = arguments[.group]
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let found = try self.selection.find(in: context).circuits
        let now = context.now
        // Sorting is stable: those of one state stay in the order of their names.
        let circuits = found.filter(self.isWanted).sorted { $0.stateWord < $1.stateWord }
        if context.isJSON {
            let values = circuits.map { JSONValue.object(JSONValue.circuit($0, at: now)) }
            context.console.write(JSONValue.document(["circuits": .array(values)]))
        } else if circuits.isEmpty {
            let isFiltered = !found.isEmpty
            context.console.writeError(
                isFiltered ? "no circuit is of that state and group\n" : self.selection.nothingFound)
        } else {
            context.console.write(Self.table(circuits, at: now).text(width: context.console.width, context.style))
        }
        return .done
    }

    private func isWanted(_ circuit: CircuitSnapshot) -> Bool {
        self.states.contains(circuit.stateWord) && (self.group == nil || circuit.config.group == self.group)
    }

    private static func table(_ circuits: [CircuitSnapshot], at now: Date) -> Table {
        var table = Table(columns: [
            .init(title: "NAME", minimumWidth: 16), .init(title: "STATE"),
            .init(title: "FAILURES", isRightAligned: true), .init(title: "SINCE", isRightAligned: true),
            .init(title: "RETRY-IN", isRightAligned: true), .init(title: "LAST-ERROR", minimumWidth: 12),
        ])
        table.rows = circuits.map { circuit in
            let word = circuit.stateWord
            return [
                .init(text: circuit.name.escaped),
                .init(text: word.rawValue, look: word.look),
                .init(text: "\(circuit.failures.count)/\(circuit.failureLimit)"),
                .init(text: "\(max(.zero, now.since(circuit.since)).readable) ago"),
                .init(text: Self.retry(circuit, at: now)),
                .init(text: circuit.lastError?.escaped ?? "-"),
            ]
        }
        return table
    }

    private static func retry(_ circuit: CircuitSnapshot, at now: Date) -> String {
        guard let retryAt = circuit.retryAt else { return "-" }
        let left = retryAt.since(now)
        return left > .zero ? left.readable : "now"
    }

    /// The states that a list of words names; `held` is both of its kinds.
    private static func states(_ list: String) throws(Failure) -> Set<StateWord> {
        var states: Set<StateWord> = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            switch try Arguments.choice(String(word), of: Filter.allCases, for: .state) {
            case .open: states.insert(.open)
            case .halfOpen: states.insert(.halfOpen)
            case .closed: states.insert(.closed)
            case .held: states.formUnion([.heldOpen, .heldClosed])
            case .heldOpen: states.insert(.heldOpen)
            case .heldClosed: states.insert(.heldClosed)
            }
        }
        return states
    }

    private enum Filter: String, CaseIterable {
        case open
        case halfOpen = "half-open"
        case closed
        case held
        case heldOpen = "held-open"
        case heldClosed = "held-closed"
    }
}
