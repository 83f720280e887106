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
        try self.circuitRow(named: name).map { (row) throws(BreakerStoreError) in
            try self.withFailures(row, named: name)
        }
    }

    /// The first circuits of a page, in the order of their names.
    func circuits(on page: CircuitPage, at now: StoreTime) throws(BreakerStoreError) -> [StoredCircuit.Named] {
        guard page.limit > 0 else { return [] }
        let path = self.connection.path
        var rows: [(name: String, row: CircuitRow)] = []
        try self.read(CircuitRow.byPattern, [.text(page.pattern), .text(page.after ?? "")]) { row in
            let name = row.text(CircuitRow.columnCount)
            // One that can't be read hides no other.
            guard let found = try? CircuitRow(row, name: name, path: path), page.has(found, at: now) else {
                return true
            }
            rows.append((name: name, row: found))
            return rows.count < page.limit
        }
        return try rows.map { (found) throws(BreakerStoreError) in
            StoredCircuit.Named(
                name: found.name, circuit: try self.withFailures(self.withProbes(found.row), named: found.name))
        }
    }

    /// Only a half-open circuit has probes: every transition deletes them.
    private func withProbes(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        guard case .halfOpen = row.circuit.state else { return row }
        var row = row
        row.circuit.probes = try self.probes(of: row.id, under: row.circuit.rules)
        return row
    }

    private func withFailures(_ row: CircuitRow, named name: String) throws(BreakerStoreError) -> StoredCircuit {
        StoredCircuit(
            row: row, failures: try self.failures(of: row.id, under: row.circuit.rules),
            trippedAt: try self.beginOfOutage(row, named: name))
    }

    /// When a circuit that is not closed tripped first since it was last closed; nil where nothing tells it.
    ///
    /// Only closed circuits trip: the newest trip began what lasts.
    func beginOfOutage(_ row: CircuitRow, named name: String) throws(BreakerStoreError) -> StoreTime? {
        switch row.circuit.state {
        case .closed, .unknown: return nil
        case .open, .halfOpen: break
        }
        // A program of schema 1.0 does not note it.
        if let known = row.circuit.trippedSince { return known }
        let newest = try self.first(
            """
            SELECT kind, at FROM event WHERE circuit = ?1 AND kind IN ('tripped', 'closed', 'reset', 'forgotten')
            ORDER BY id DESC LIMIT 1
            """,
            .text(name)
        ) { (kind: $0.text(0), at: StoreTime(microseconds: $0.integer(1))) }
        return newest?.kind == CircuitEvent.Kind.tripped.rawValue ? newest?.at : nil
    }
}

/// A circuit as it stands in the file, with its failures.
struct StoredCircuit: Equatable {
    var row: CircuitRow
    /// Oldest first.
    var failures: [Circuit.Failure] = []
    /// When the outage began that lasts, if that is known.
    var trippedAt: StoreTime?
    var totals = BlockTotals()
    var durations: DurationBuckets?
    var recent: CallRates?

    /// Takes over what is counted elsewhere.
    mutating func take(_ board: BoardView, from database: Database) throws(BreakerStoreError) {
        let counted = self.row.birth.flatMap(board.totals)
        self.totals = try database.totals(of: self.row.id, with: counted, ofBoard: board.number)
        // Programs that know only schema 1.0 count the calls that they refuse in the row.
        self.totals.add(BlockTotals(refused: UInt64(clamping: self.row.refusals)))
        self.durations = try database.durations(
            of: self.row.id, with: self.row.birth.flatMap(board.durations), ofBoard: board.number)
        self.recent = board.rates(of: self.row)
    }

    struct Named {
        var name: String
        var circuit: StoredCircuit
    }

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
