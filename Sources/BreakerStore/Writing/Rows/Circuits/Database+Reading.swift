/// Reads circuits from the file.
extension Database {
    /// Runs `body` in a read transaction, so that it sees the file as of one instant.
    func snapshot<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.run("BEGIN")
        defer { self.rollback() }
        return try body()
    }

    /// The circuit's row, with its probes; nil if no circuit has this name.
    func circuitRow(named name: String) throws(BreakerStoreError) -> CircuitRow? {
        let row = try self.first(CircuitRow.byName, .text(name)) { row throws(BreakerStoreError) in
            try CircuitRow(row, name: name, in: self)
        }
        return try row.map { (row) throws(BreakerStoreError) in try self.withProbes(row) }
    }

    /// The circuit with its failures; nil if no circuit has this name.
    func circuit(named name: String) throws(BreakerStoreError) -> StoredCircuit? {
        try self.circuitRow(named: name).map { (row) throws(BreakerStoreError) in
            try self.withFailures(row)
        }
    }

    /// The circuits of a page, ordered by name.
    func circuits(on page: CircuitPage, at now: StoreTime) throws(BreakerStoreError) -> [StoredCircuit.Named] {
        guard page.limit > 0 else { return [] }
        var rows: [(name: String, row: CircuitRow)] = []
        try self.read(CircuitRow.byPattern, [.text(page.pattern), .text(page.after ?? "")]) { row in
            let name = row.text(CircuitRow.columnCount)
            // A row that can't be read must not hide other circuits.
            guard let found = try? CircuitRow(row, name: name, in: self), page.has(found, at: now) else {
                return true
            }
            rows.append((name: name, row: found))
            return rows.count < page.limit
        }
        return try rows.map { (found) throws(BreakerStoreError) in
            StoredCircuit.Named(
                name: found.name, circuit: try self.withFailures(self.withProbes(found.row)))
        }
    }

    /// Adds the probes; only a half-open circuit has any, because every transition deletes them.
    private func withProbes(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        guard case .halfOpen = row.circuit.state else { return row }
        var row = row
        row.circuit.probes = try self.probes(of: row.id, under: row.circuit.rules)
        return row
    }

    private func withFailures(_ row: CircuitRow) throws(BreakerStoreError) -> StoredCircuit {
        StoredCircuit(row: row, failures: try self.failures(of: row))
    }
}

/// A circuit as it stands in the file, with its failures.
struct StoredCircuit: Equatable {
    var row: CircuitRow
    /// Oldest first.
    var failures: [Circuit.Failure] = []
    var totals = CellTotals()
    var durations: DurationBuckets?
    var recent: CallRates?

    /// Adds the counts of the board and of the tallies.
    mutating func take(_ board: BoardView, from database: Database) throws(BreakerStoreError) {
        let counted = board.totals(of: self.row)
        self.totals = try database.totals(of: self.row.id, with: counted, ofBoard: board.number)
        self.durations = try database.durations(
            of: self.row.id, with: board.durations(of: self.row), ofBoard: board.number)
        self.recent = board.rates(of: self.row)
    }

    struct Named {
        var name: String
        var circuit: StoredCircuit
    }

    /// The times of the failures that count at `now`; a time ahead of `now` counts as `now`.
    func failureTimes(at now: StoreTime) -> [StoreTime] {
        let start = self.row.circuit.startOfCounting(at: now)
        return self.failures.map { min($0.at, now) }.filter { time in start.map { time >= $0 } ?? true }
    }

    /// Whether any stamp lies ahead of `now`.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        self.row.circuit.hasStampsAhead(of: now) || self.failures.last.map { $0.at > now } ?? false
    }
}
