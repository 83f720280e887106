/// Finds the circuits that an operator names.
extension Database {
    /// The circuits that selectors name: each once, in no order.
    struct Selected {
        struct Circuit {
            /// The row's id, by which statements find the circuit even if its name is not UTF-8.
            var id: Int64
            var name: String
            /// Whether a selector that requires the circuit gave its name.
            var mustBeThere: Bool
        }

        var circuits: [Circuit] = []
        /// Whether a pattern or a group found at least one circuit.
        var isBroad = false
        /// Names that no circuit has, though one must.
        var missing: [String] = []
    }

    func select(_ selectors: [CircuitSelector]) throws(BreakerStoreError) -> Selected {
        var selected = Selected()
        var circuits: [Int64: Selected.Circuit] = [:]
        for selector in selectors {
            let found: [(id: Int64, name: String)]
            var isNamed = true
            var mustBeThere = true
            switch selector {
            case .named(let name):
                found = try self.circuits(called: name)
                if found.isEmpty { selected.missing.append(name) }
            case .namedIfPresent(let name):
                found = try self.circuits(called: name)
                mustBeThere = false
            case .pattern(let pattern):
                found = try self.circuits(matching: pattern)
                isNamed = false
            case .group(let group):
                found = try self.identified(Self.grouped, .text(group))
                isNamed = false
            case .nameOrPattern(let text):
                let called = try self.circuits(called: text)
                isNamed = !called.isEmpty || !CircuitSelector.isPattern(text)
                found = isNamed ? called : try self.circuits(matching: text)
                if isNamed, found.isEmpty { selected.missing.append(text) }
            }
            if !isNamed, !found.isEmpty { selected.isBroad = true }
            for (id, name) in found {
                let wasRequired = circuits[id]?.mustBeThere ?? false
                circuits[id] = Selected.Circuit(id: id, name: name, mustBeThere: isNamed && mustBeThere || wasRequired)
            }
        }
        selected.circuits = Array(circuits.values)
        return selected
    }

    private static let called: SQL = "SELECT id, name FROM circuit WHERE name = ?1"
    private static let matching: SQL = "SELECT id, name FROM circuit WHERE name GLOB ?1"
    private static let grouped: SQL = "SELECT id, name FROM circuit WHERE group_name = ?1"
    private static let all: SQL = "SELECT id, name FROM circuit ORDER BY name"

    /// The names of all circuits, in order.
    func names() throws(BreakerStoreError) -> [String] { try self.identified(Self.all).map(\.name) }

    /// The circuit of this name or, if there is none, the circuits that are shown under this name: their real names
    /// have invisible characters, or are not UTF-8.
    private func circuits(called name: String) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        let found = try self.identified(Self.called, .text(name))
        guard found.isEmpty, name.unicodeScalars.contains("\u{FFFD}") || name.contains("\\u{") else { return found }
        return try self.identified(Self.all)
            .filter { $0.name.utf8.elementsEqual(name.utf8) || $0.name.escaped.utf8.elementsEqual(name.utf8) }
    }

    private func circuits(matching pattern: String) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        try Validation.pattern(pattern)
        return try self.identified(Self.matching, .text(pattern))
    }

    private func identified(
        _ sql: SQL, _ values: SQLValue...
    ) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        try self.all(sql, values) { (id: $0.integer(0), name: $0.text(1)) }
    }
}
