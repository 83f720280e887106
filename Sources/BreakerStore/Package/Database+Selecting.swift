/// Finding the circuits that an operator names.
extension Database {
    /// What selectors lead to: each name once, in the order of their bytes.
    struct SelectedNames {
        var names: [String] = []
        /// Whether a pattern found some of them.
        var isBroad = false
        /// Names that must be there and are not.
        var missing: [String] = []
    }

    func names(of selectors: [CircuitSelector]) throws(BreakerStoreError) -> SelectedNames {
        var selected = SelectedNames()
        var names: [CircuitName: String] = [:]
        for selector in selectors {
            let found: [String]
            switch selector {
            case .named(let name):
                found = try self.hasCircuit(name) ? [name] : []
                if found.isEmpty { selected.missing.append(name) }
            case .namedIfPresent(let name):
                found = try self.hasCircuit(name) ? [name] : []
            case .pattern(let pattern):
                found = try self.names(matching: pattern)
                selected.isBroad = selected.isBroad || !found.isEmpty
            case .nameOrPattern(let text):
                if try self.hasCircuit(text) {
                    found = [text]
                } else if CircuitSelector.isPattern(text) {
                    found = try self.names(matching: text)
                    selected.isBroad = selected.isBroad || !found.isEmpty
                } else {
                    found = []
                    selected.missing.append(text)
                }
            }
            for name in found { names[CircuitName(name)] = name }
        }
        selected.names = names.values.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return selected
    }

    private func hasCircuit(_ name: String) throws(BreakerStoreError) -> Bool {
        try self.first("SELECT 1 FROM circuit WHERE name = ?1", .text(name)) { _ in true } ?? false
    }

    private func names(matching pattern: String) throws(BreakerStoreError) -> [String] {
        try self.all("SELECT name FROM circuit WHERE name GLOB ?1", .text(pattern)) { $0.text(0) }
    }
}
