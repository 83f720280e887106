import BreakerStore

/// The circuits that a command line names.
struct Selection: Sendable {
    /// Nil is all circuits.
    var selectors: [CircuitSelector]?

    /// - Parameter operands: names and patterns; none are all circuits.
    init(_ operands: [String], isExact: Bool) {
        self.selectors = operands.isEmpty ? nil : operands.map { isExact ? .named($0) : .nameOrPattern($0) }
    }

    /// What was found, each circuit once, by name.
    struct Found {
        var circuits: [CircuitSnapshot]
        /// Whether a pattern, or that all were meant, found some of them.
        var isBroad: Bool
    }

    /// Looks the circuits up without changing anything; a name must be there.
    func find(in context: Context) throws(Failure) -> Found {
        var missing: (name: String, nearest: String?)?
        let found = try context.reading { (store) throws(BreakerStoreError) -> Found in
            guard let selectors = self.selectors else { return Found(circuits: try store.circuits(), isBroad: true) }
            var found: [[UInt8]: CircuitSnapshot] = [:]
            var isBroad = false
            for selector in selectors {
                switch try Self.find(selector, in: store) {
                case .one(let circuit): found[Array(circuit.name.utf8)] = circuit
                case .matches(let circuits):
                    isBroad = isBroad || !circuits.isEmpty
                    for circuit in circuits { found[Array(circuit.name.utf8)] = circuit }
                case .missing(let name):
                    missing = (name, Spelling.nearest(to: name, among: try store.circuits().map(\.name)))
                    return Found(circuits: [], isBroad: false)
                }
            }
            let circuits = found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
            return Found(circuits: circuits, isBroad: isBroad)
        }
        if let missing { throw .noSuchCircuit(missing.name, nearest: missing.nearest) }
        return found
    }

    private enum Lookup {
        case one(CircuitSnapshot)
        case matches([CircuitSnapshot])
        case missing(String)
    }

    private static func find(
        _ selector: CircuitSelector,
        in store: CircuitStore
    ) throws(BreakerStoreError) -> Lookup {
        switch selector {
        case .named(let name), .namedIfPresent(let name):
            return try store.circuit(named: name).map(Lookup.one) ?? .missing(name)
        case .pattern(let pattern):
            return .matches(try store.circuits(matching: pattern))
        case .nameOrPattern(let text):
            if let circuit = try store.circuit(named: text) { return .one(circuit) }
            guard CircuitSelector.isPattern(text) else { return .missing(text) }
            return .matches(try store.circuits(matching: text))
        }
    }

    /// Says that nothing was found, in the words of the command line.
    var nothingFound: String {
        guard let selectors = self.selectors else { return "the store has no circuits\n" }
        let patterns = selectors.map(\.text.quoted).joined(separator: " or ")
        return "no circuit matches \(patterns)\n"
    }
}

extension CircuitSelector {
    fileprivate var text: String {
        switch self {
        case .named(let text), .namedIfPresent(let text), .pattern(let text), .nameOrPattern(let text): text
        }
    }
}

extension Failure {
    static func noSuchCircuit(_ name: String, nearest: String?) -> Failure {
        Failure(
            .noSuchCircuit,
            "no such circuit: \(name.quoted)",
            hint: nearest.map { "did you mean \($0.quoted)?" } ?? "'\(Tool.name) list' shows those there are"
        )
    }
}
