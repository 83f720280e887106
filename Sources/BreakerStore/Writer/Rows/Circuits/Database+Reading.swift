/// Reads circuits, each with what belongs to it.
extension Database {
    /// Runs `body` in a read transaction, so that it sees the file as of one instant.
    func snapshot<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.run("BEGIN")
        defer { self.rollback() }
        return try body()
    }

    /// What a call's decision needs: the circuit's row with its probes, and whether a success would forget failures.
    ///
    /// Nil if no circuit has this name.
    func readForDecision(of name: String) throws(BreakerStoreError) -> (row: CircuitRow, hasFailures: Bool)? {
        guard let row = try self.circuitRow(named: name) else { return nil }
        // After another process's commit SQLite reads each page again, so each further table costs a read of the file.
        // Only rules under which a success forgets failures are worth it. Where the stored rules can't be used, the
        // config of this process may have such a rule.
        guard row.circuit.rules.isConsecutive || !row.circuit.rules.isKnown else { return (row, false) }
        let found = try self.first(
            "SELECT 1 FROM failure WHERE circuit = ?1 AND at >= ?2 LIMIT 1", .integer(row.id),
            .integer(row.failures.since?.microseconds ?? .min)
        ) { _ in true }
        return (row, found ?? false)
    }

    /// The circuit's row, with its probes; nil if no circuit has this name.
    func circuitRow(named name: String) throws(BreakerStoreError) -> CircuitRow? {
        let search = CircuitSearch.named(name)
        return try self.first(search.sql, search.values) { columns throws(BreakerStoreError) in
            try self.withProbes(try CircuitRow(columns, name: name, in: self))
        }
    }

    /// The circuit of this name, or nil; see `circuits`.
    func circuit(
        named name: String, failures max: Int64 = .max, countedOn board: BoardView? = nil, withWorkers: Bool = false
    ) throws(BreakerStoreError) -> StoredCircuit? {
        var found: StoredCircuit?
        try self.circuits(
            .named(name), failures: max, countedOn: board, withWorkers: withWorkers,
            orElse: { (name, _) throws(BreakerStoreError) in throw .unreadableCircuit(name, self.connection.path) },
            while: { circuit in
                found = circuit
                return false
            })
        return found
    }

    /// Passes circuits with their probes to `body`, one by one, until it returns false.
    ///
    /// - Parameters:
    ///   - max: how many failures of each circuit are read at most, the newest.
    ///   - board: the current board, to include the counts of calls; else nil.
    ///   - withWorkers: whether to read which workers have registered each circuit.
    ///   - isWanted: returns, by its row, whether a circuit is read.
    ///   - unreadable: called for a circuit whose row can't be read, or whose name is not UTF-8 and so can't be given
    ///     back to SQLite: such a row must not hide other circuits.
    func circuits(
        _ search: CircuitSearch, failures max: Int64 = .max, countedOn board: BoardView? = nil,
        withWorkers: Bool = false, where isWanted: (CircuitRow) -> Bool = { _ in true },
        orElse unreadable: (_ name: String, _ id: Int64) throws(BreakerStoreError) -> Void = { _, _ in },
        while body: (StoredCircuit) throws(BreakerStoreError) -> Bool
    ) throws(BreakerStoreError) {
        let nameColumn = CircuitRow.columnCount
        let (hasFailures, hasDurations) = (nameColumn + 1, nameColumn + 2)
        try self.read(search.sql, search.values) { columns throws(BreakerStoreError) in
            let name = columns.text(nameColumn)
            guard columns.isUTF8(name, nameColumn), let row = try? CircuitRow(columns, name: name, in: self) else {
                try unreadable(name, columns.integer(0))
                return true
            }
            guard isWanted(row) else { return true }
            var circuit = StoredCircuit(name: name, row: try self.withProbes(row))
            // NULL means unknown.
            func mayBeTrue(_ column: Int32) -> Bool { columns.optionalInteger(column) != 0 }
            if max > 0, mayBeTrue(hasFailures) { circuit.failures = try self.failures(of: row, atMost: max) }
            if let board {
                circuit.totals = try self.totals(of: row.id, with: board.totals(of: row), ofBoard: board.number)
                circuit.durations = board.durations(of: row)
                if mayBeTrue(hasDurations) {
                    circuit.durations = try self.durations(
                        of: row.id, with: circuit.durations, ofBoard: board.number)
                }
                circuit.recent = board.rates(of: row)
                if let error = board.lastError(of: row) { circuit.row.circuit.lastError = error }
            }
            if withWorkers { circuit.registered = try self.workers(using: row.id) }
            return try body(circuit)
        }
    }

    /// Adds the probes; only a half-open circuit has any, because every transition deletes them.
    private func withProbes(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        guard case .halfOpen = row.circuit.state else { return row }
        var row = row
        row.circuit.probes = try self.probes(of: row)
        return row
    }

    /// The workers that have registered a circuit, dead or alive.
    func workers(using circuit: Int64) throws(BreakerStoreError) -> [WorkerID] {
        try self.all(
            "SELECT worker FROM registration WHERE circuit = ?1 LIMIT ?2", .integer(circuit),
            .integer(Int64(Self.maxUsersRead))
        ) { $0.worker(0) }
    }
}

/// A circuit as the file has it, with as much as was read of what belongs to it.
struct StoredCircuit: Equatable {
    let name: String
    var row: CircuitRow
    /// Oldest first.
    var failures: [Circuit.Failure] = []
    var totals = CellTotals()
    var durations: DurationBuckets?
    var recent: CallRates?
    /// The workers that have registered it, dead or alive.
    var registered: [WorkerID] = []
    /// When it has tripped lately.
    var trips: [StoreTime] = []

    /// The failures that count at `now`; a time ahead of `now` counts as `now`.
    ///
    /// Under a failure-rate rule none: the rows are there only so that no report of a permit counts twice.
    func failures(at now: StoreTime) -> [Circuit.Failure] {
        guard self.row.circuit.rules.keepsFailures else { return [] }
        let start = self.row.circuit.startOfCounting(at: now)
        return self.failures.filter { failure in start.map { min(failure.at, now) >= $0 } ?? true }
    }

    /// Whether any stamp lies ahead of `now`.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        self.row.circuit.hasStampsAhead(of: now) || self.failures.last.map { $0.at > now } ?? false
    }
}
