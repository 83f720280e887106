/// Finding the circuits that an operator names.
extension Database {
    /// The circuits that selectors name: each once, in no order.
    struct Selected {
        struct Circuit {
            /// The row's number, which finds the circuit even if the name is no UTF-8.
            var id: Int64
            var name: String
            /// Whether its name was given, not a pattern alone.
            var isNamed: Bool
        }

        var circuits: [Circuit] = []
        /// Whether a pattern found some of them.
        var isBroad = false
        /// Names that must be there and are not.
        var missing: [String] = []
    }

    func select(_ selectors: [CircuitSelector]) throws(BreakerStoreError) -> Selected {
        var selected = Selected()
        var circuits: [Int64: Selected.Circuit] = [:]
        for selector in selectors {
            let found: [(id: Int64, name: String)]
            var isNamed = true
            switch selector {
            case .named(let name):
                found = try self.circuits(called: name)
                if found.isEmpty { selected.missing.append(name) }
            case .namedIfPresent(let name):
                found = try self.circuits(called: name)
            case .pattern(let pattern):
                found = try self.circuits(matching: pattern)
                isNamed = false
            case .nameOrPattern(let text):
                let called = try self.circuits(called: text)
                isNamed = !called.isEmpty || !CircuitSelector.isPattern(text)
                found = isNamed ? called : try self.circuits(matching: text)
                if isNamed, found.isEmpty { selected.missing.append(text) }
            }
            if !isNamed, !found.isEmpty { selected.isBroad = true }
            for (id, name) in found {
                let wasNamed = circuits[id]?.isNamed ?? false
                circuits[id] = Selected.Circuit(id: id, name: name, isNamed: isNamed || wasNamed)
            }
        }
        selected.circuits = Array(circuits.values)
        return selected
    }

    private static let called: SQL = "SELECT id, name FROM circuit WHERE name = ?1"
    private static let matching: SQL = "SELECT id, name FROM circuit WHERE name GLOB ?1"
    private static let all: SQL = "SELECT id, name FROM circuit WHERE ?1 <> '' ORDER BY name"
    private static let oneMatching: SQL = "SELECT id, name FROM circuit WHERE id = ?2 AND name GLOB ?1"
    private static let one: SQL = "SELECT id, name FROM circuit WHERE id = ?2 AND ?1 <> ''"
    private static let ids: SQL = "SELECT id FROM circuit"

    /// The names of all circuits, in their order, but for those that are too long to be read.
    func names() throws(BreakerStoreError) -> [String] {
        try self.identified(Self.all, orEachBy: Self.one, "*", withUnreadable: false).map(\.name)
    }

    /// The circuit of this name, or those that are shown as it: with characters spelled out that can't be seen, or
    /// because their names are no UTF-8 or too long to be read.
    private func circuits(called name: String) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        let found = try self.all(Self.called, .text(name)) { (id: $0.integer(0), name: $0.text(1)) }
        guard found.isEmpty, name.unicodeScalars.contains("\u{FFFD}") || name.contains("\\u{") else { return found }
        return try self.identified(Self.all, orEachBy: Self.one, name, withUnreadable: true)
            .filter { $0.name.utf8.elementsEqual(name.utf8) || $0.name.escaped.utf8.elementsEqual(name.utf8) }
    }

    private func circuits(matching pattern: String) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        try Validation.pattern(pattern)
        return try self.identified(Self.matching, orEachBy: Self.oneMatching, pattern, withUnreadable: false)
    }

    /// The circuits that a statement finds; where the name of one can't be read, they are looked at one by one.
    private func identified(
        _ sql: SQL,
        orEachBy one: SQL,
        _ text: String,
        withUnreadable: Bool
    ) throws(BreakerStoreError) -> [(id: Int64, name: String)] {
        do throws(BreakerStoreError) {
            return try self.all(sql, .text(text)) { (id: $0.integer(0), name: $0.text(1)) }
        } catch {
            guard error.isOfRefusedValue else { throw error }
        }
        var found: [(id: Int64, name: String)] = []
        for id in try self.all(Self.ids, read: { $0.integer(0) }) {
            do throws(BreakerStoreError) {
                let circuit = try self.first(one, .text(text), .integer(id)) { (id: $0.integer(0), name: $0.text(1)) }
                if let circuit { found.append(circuit) }
            } catch {
                guard error.isOfRefusedValue else { throw error }
                if withUnreadable { found.append((id, try self.shownName(of: id))) }
            }
        }
        return found
    }

    private static let nameOf: SQL = "SELECT name FROM circuit WHERE id = ?1"

    /// The name of a circuit whose row can't be read.
    ///
    /// A name that is too long is shown by its beginning and U+FFFD, the replacement character.
    func shownName(of circuit: Int64) throws(BreakerStoreError) -> String {
        do throws(BreakerStoreError) {
            return try self.first(Self.nameOf, .integer(circuit)) { $0.text(0) } ?? ""
        } catch {
            guard error.isOfRefusedValue else { throw error }
            let name = try self.connection.reading("name", of: "circuit", row: circuit) {
                () throws(BreakerStoreError) in try self.first(Self.nameOf, .integer(circuit)) { $0.text(0) }
            }
            if case let name?? = name { return name }
            return try self.connection.beginning(of: "name", in: "circuit", row: circuit, atMost: 100) + "\u{FFFD}"
        }
    }
}
