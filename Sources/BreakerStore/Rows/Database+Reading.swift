/// Circuits as they stand in the file.
extension Database {
    /// Reads all that `body` reads as of one instant.
    func snapshot<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.run("BEGIN")
        defer { self.rollback() }
        return try body()
    }

    /// The circuit's row, with its probes; nil if there is none of this name.
    func circuitRow(named name: String) throws(BreakerStoreError) -> CircuitRow? {
        let path = self.connection.path
        let row = try self.first(CircuitRow.byName, .text(name)) { row throws(BreakerStoreError) in
            try CircuitRow(row, name: name, path: path)
        }
        return try row.map { (row) throws(BreakerStoreError) in try self.withProbes(row) }
    }

    /// The circuit with its failures; nil if there is none of this name.
    func circuit(named name: String) throws(BreakerStoreError) -> StoredCircuit? {
        try self.circuitRow(named: name).map { (row) throws(BreakerStoreError) in try self.withFailures(row) }
    }

    /// The circuits whose names match, in the order of their names.
    func circuits(matching pattern: String) throws(BreakerStoreError) -> [(name: String, circuit: StoredCircuit)] {
        let path = self.connection.path
        let rows = try self.all(CircuitRow.byPattern, .text(pattern)) { row throws(BreakerStoreError) in
            let name = row.text(CircuitRow.columnCount)
            // One that can't be read hides no other.
            return (try? CircuitRow(row, name: name, path: path)).map { (name: name, row: $0) }
        }
        return try rows.compactMap(\.self).map { (found) throws(BreakerStoreError) in
            (found.name, try self.withFailures(self.withProbes(found.row)))
        }
    }

    /// Only a half-open circuit has probes: every transition deletes them.
    private func withProbes(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        guard case .halfOpen = row.circuit.state else { return row }
        var row = row
        row.circuit.probes = try self.probes(of: row.id, under: row.circuit.rules)
        return row
    }

    private func withFailures(_ row: CircuitRow) throws(BreakerStoreError) -> StoredCircuit {
        StoredCircuit(row: row, failures: try self.failures(of: row.id, under: row.circuit.rules))
    }
}

/// A circuit as it stands in the file, with its failures.
struct StoredCircuit: Equatable {
    var row: CircuitRow
    /// Oldest first.
    var failures: [Circuit.Failure] = []

    /// When the failures ended that count at `now`; an instant that lies ahead counts as now.
    func failureTimes(at now: StoreTime) -> [StoreTime] {
        let start = self.row.circuit.failuresCount(from: now)
        return self.failures.map { min($0.at, now) }.filter { time in start.map { time >= $0 } ?? true }
    }

    /// Whether there is any stamp ahead of `now`.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        self.row.circuit.hasStampsAhead(of: now) || self.failures.last.map { $0.at > now } ?? false
    }
}
