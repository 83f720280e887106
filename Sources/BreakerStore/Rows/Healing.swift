/// Makes rows readable and writable again that no version of this library can have written.
///
/// SQLite checks a whole row when a statement changes one column, so every change of such a row fails: the circuit
/// never trips, and no process can open the store. Healing keeps the values that can be read. It reads the whole file
/// in a transaction of its own, so the store heals only after a statement has met such a row.
struct Healing {
    let database: Database
    let now: StoreTime
    /// How this process has registered its circuits.
    let configs: NameTable<CircuitBreaker.Config>

    private(set) var notes: [StoreNote] = []

    init(_ database: Database, at now: StoreTime, configs: NameTable<CircuitBreaker.Config>) {
        self.database = database
        self.now = now
        self.configs = configs
    }

    mutating func run() throws(BreakerStoreError) {
        try self.dropStrayRows()
        try self.healWorkers()
        try self.healCircuits()
    }

    // MARK: - Rows of little worth

    private mutating func dropStrayRows() throws(BreakerStoreError) {
        let before = self.database.connection.changes
        for sql: SQL in [
            """
            DELETE FROM failure WHERE typeof(circuit) <> 'integer' OR typeof(at) <> 'integer'
            OR typeof(worker) <> 'integer' OR typeof(sequence) <> 'integer'
            """,
            """
            DELETE FROM probe WHERE typeof(circuit) <> 'integer' OR typeof(token) <> 'integer'
            OR typeof(worker) <> 'integer' OR typeof(since) <> 'integer' OR typeof(lease_ends) <> 'integer'
            """,
            "DELETE FROM registration WHERE typeof(worker) <> 'integer' OR typeof(circuit) <> 'integer'",
            "DELETE FROM event WHERE typeof(kind) <> 'text' OR typeof(at) <> 'integer'",
        ] { try self.database.run(sql) }
        let count = self.database.connection.changes - before
        guard count > 0 else { return }
        self.note(nil, .restored, "\(count) rows that could not be read were removed")
    }

    private mutating func healWorkers() throws(BreakerStoreError) {
        let before = self.database.connection.changes
        try self.database.run(
            """
            UPDATE worker SET name = 'unknown', pid = 0, since = ?1
            WHERE typeof(name) <> 'text' OR typeof(pid) <> 'integer' OR typeof(since) <> 'integer'
            """,
            .integer(self.now.microseconds)
        )
        let count = self.database.connection.changes - before
        guard count > 0 else { return }
        self.note(nil, .restored, "the rows of \(count) workers could not be read; they were made anew")
    }

    // MARK: - Circuits

    private mutating func healCircuits() throws(BreakerStoreError) {
        let ids = try self.database.all("SELECT id FROM circuit") { $0.integer(0) }
        for id in ids where try !self.isWritable(id) { try self.heal(id) }
    }

    private static let byID = CircuitColumn.select { "SELECT \($0) FROM circuit WHERE id = ?1" }

    /// Whether the row can be read, and passes the table's own checks when it is written.
    private func isWritable(_ id: Int64) throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            let path = self.database.connection.path
            let row = try self.database.first(Self.byID, .integer(id)) { row throws(BreakerStoreError) in
                try CircuitRow(row, name: "", path: path)
            }
            // A later version's row may not pass the checks of this version's table. Such a row stays as it is.
            guard let row, row.circuit.state.isKnown else { return true }
            try self.database.run("UPDATE circuit SET registered = registered WHERE id = ?1", .integer(id))
            return true
        } catch {
            guard error.isOfUnusableRow else { throw error }
            return false
        }
    }

    private mutating func heal(_ id: Int64) throws(BreakerStoreError) {
        let columns = SalvagedColumns(of: id, in: self.database)
        guard let name = columns.name else {
            try self.database.deleteCircuit(id)
            self.note(nil, .forgotten, "a circuit whose name could not be read was removed")
            return
        }
        let config = self.configs[CircuitName(name)]
        var (row, unreadable) = CircuitRow.salvaged(from: columns, config)
        row.circuit.takeStampsAhead(for: self.now)
        // The higher epoch makes results of calls that were admitted earlier stale.
        row.circuit.epoch = max(row.circuit.epoch.addingSaturating(1), self.now.microseconds)
        // Of the row SQLite reads the name, which is short.
        try self.database.connection.withoutLimit { () throws(BreakerStoreError) in
            try self.database.run("DELETE FROM circuit WHERE id = ?1", .integer(id))
        }
        _ = try self.database.insert(row, named: name, id: id)
        let what =
            unreadable.isEmpty
            ? "its row could not be written" : "\(unreadable.map(\.name).joined(separator: ", ")) could not be read"
        // The event has no state before. A registration's event has one, which `Transaction.isConfigured` looks for.
        let source = config == nil ? "with defaults" : "as this process knows it"
        self.note(name, .configured, "\(what); the circuit was registered anew, \(source) where that is so")
    }

    private mutating func note(_ circuit: String?, _ kind: CircuitEvent.Kind, _ reason: String) {
        self.notes.append(StoreNote(circuit: circuit, transition: Transition(kind: kind, reason: reason)))
    }
}

/// A circuit's columns, each read by a statement of its own: where one value is too long for SQLite, the others are
/// read all the same.
private struct SalvagedColumns: ColumnSource {
    let id: Int64
    let database: Database

    init(of id: Int64, in database: Database) {
        self.id = id
        self.database = database
    }

    private func read<Value>(_ column: CircuitColumn, _ value: (Row) -> Value?) -> Value? {
        self.read(column.name, value)
    }

    private func read<Value>(_ column: String, _ value: (Row) -> Value?) -> Value? {
        let sql = "SELECT \(column) FROM circuit WHERE id = ?1"
        let found = try? self.database.connection.reading(column, of: "circuit", row: self.id) {
            () throws(BreakerStoreError) in
            try self.database.connection.prepare(sql).first([.integer(self.id)]) { value($0) } ?? nil
        }
        return (found ?? nil) ?? nil
    }

    func typedInteger(_ column: CircuitColumn) -> Int64? { self.read(column) { $0.typedInteger(0) } }
    func typedReal(_ column: CircuitColumn) -> Double? { self.read(column) { $0.typedReal(0) } }
    func typedText(_ column: CircuitColumn) -> String? { self.read(column) { $0.typedText(0) } }
    func isNull(_ column: CircuitColumn) -> Bool { self.read(column) { $0.isNull(0) } ?? false }

    /// The circuit's name; nil if no service could ask for a circuit of this name.
    var name: String? {
        let name = self.read("name") { row -> String? in
            guard let name = row.typedText(0), row.isUTF8(name, 0) else { return nil }
            return name
        }
        guard let name, CircuitName.lengths.contains(name.unicodeScalars.count) else { return nil }
        return name
    }
}
