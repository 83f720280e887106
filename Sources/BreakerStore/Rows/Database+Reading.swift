/// Circuits as they stand in the file.
extension Database {
    /// Reads all that `body` reads as of one instant.
    func snapshot<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.run("BEGIN")
        defer { self.rollback() }
        return try body()
    }

    /// The circuit with its failures and probes; nil if there is none of this name.
    func circuit(named name: String) throws(BreakerStoreError) -> CircuitRow? {
        let path = self.connection.path
        let row = try self.first(CircuitRow.byName, .text(name)) { row throws(BreakerStoreError) in
            try CircuitRow(row, name: name, path: path)
        }
        return try row.map { (row) throws(BreakerStoreError) in try self.complete(row) }
    }

    /// The circuits whose names match, in the order of their names.
    func circuits(matching pattern: String) throws(BreakerStoreError) -> [(name: String, row: CircuitRow)] {
        let path = self.connection.path
        let rows = try self.all(CircuitRow.byPattern, .text(pattern)) { row throws(BreakerStoreError) in
            let name = row.text(CircuitRow.columnCount)
            // One that can't be read hides no other.
            return (try? CircuitRow(row, name: name, path: path)).map { (name: name, row: $0) }
        }
        return try rows.compactMap(\.self).map { (found) throws(BreakerStoreError) in
            (found.name, try self.complete(found.row))
        }
    }

    private func complete(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        var row = row
        row.circuit.failures = try self.failures(of: row.id, under: row.circuit.rules)
        row.circuit.probes = try self.probes(of: row.id, under: row.circuit.rules)
        return row
    }
}
