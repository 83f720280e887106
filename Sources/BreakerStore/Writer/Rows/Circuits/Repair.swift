/// Deletes rows that no version of this library can have written.
///
/// SQLite checks a whole row when a statement changes one column, so every change of such a row fails: the circuit
/// never trips, and no process can open the store. No value of such a row is worth guessing. A process that uses a
/// circuit registers it again; a worker writes its own row again. A repair reads the whole file in a transaction of its
/// own, so it runs only after a statement has met such a row.
struct Repair {
    private let database: Database
    private let start: ClockRow.Start
    private let tables: [TableColumns]

    /// The circuits whose rows can't be read, with their names, as `unreadable(in:)` has found them; they are removed.
    ///
    /// Set by the opening. A repair after a failed commit leaves it empty: it has found no such row.
    var unreadable: [Int64: String?] = [:]
    private(set) var notes: [StoreNote] = []
    /// The names of the circuits whose rows were deleted.
    private(set) var removed: [String] = []

    init(_ database: Database, at start: ClockRow.Start, in tables: [TableColumns] = TableColumns.current) {
        self.database = database
        self.start = start
        // Circuits are removed with all that belongs to them, and `ClockRow` writes a bad row of the clock again.
        self.tables = tables.filter { $0.table != "circuit" && $0.table != "clock" }
    }

    private var hasRemoved = false

    /// After the repair new circuits start at this epoch or above.
    ///
    /// So no late result for a removed circuit counts, even if the removed circuit started at the last floor.
    var epochFloor: Epoch {
        let row = self.start.row
        return self.hasRemoved ? max(Epoch(row.reserved), row.epochFloor).adding(ClockRow.reserve) : 0
    }

    /// Deletes the rows; called inside a transaction.
    mutating func run() throws(BreakerStoreError) {
        try self.dropRows()
        let ids = try self.database.all("SELECT id FROM circuit") { $0.integer(0) }
        for id in ids where try !self.isWritable(id) { try self.remove(id) }
        // The stored counts may include rows of `failure` that were deleted.
        try self.database.run("UPDATE circuit SET failure_count = NULL WHERE failure_count IS NOT NULL")
        try self.database.run(
            // For the opening, which has no `Transaction`. `Writer.repair` also raises the floor of its transaction.
            "UPDATE clock SET epoch_floor = max(epoch_floor, ?1) WHERE id = 1", SQLValue(self.epochFloor))
    }

    /// Deletes rows of the other tables with a value of a wrong type or an overlong text.
    private mutating func dropRows() throws(BreakerStoreError) {
        let before = self.database.connection.changes
        for table in self.tables {
            // To find a value's type, SQLite does not read the value, however long the value is.
            try self.database.connection.withoutLimit { () throws(BreakerStoreError) in
                try self.database.connection.prepare("DELETE FROM \(table.table) WHERE \(table.hasWrongType)").run()
            }
        }
        for table in self.tables where !table.texts.isEmpty { try self.dropLongTexts(of: table) }
        let count = self.database.connection.changes - before
        guard count > 0 else { return }
        let rows = count == 1 ? "1 row" : "\(count) rows"
        self.note(nil, .restored, "\(rows) that could not be read \(count == 1 ? "was" : "were") removed")
    }

    /// Deletes rows with a text that is too long to be read, and the other rows of the table with the same first key.
    private func dropLongTexts(of table: TableColumns) throws(BreakerStoreError) {
        let rows = "FROM \(table.table) WHERE \(table.first) >= ?1 ORDER BY \(table.first)"
        let damaged = try self.database.connection.prepare(
            "SELECT \(TableColumns.list([table.first] + table.texts, ", ") { $0 }) \(rows)")
        let delete = try self.database.connection.prepare(
            "DELETE FROM \(table.table) WHERE \(table.first) = (SELECT \(table.first) \(rows) LIMIT 1 OFFSET ?2)")
        var last = Int64.min
        while true {
            // How many rows with the key `last` SQLite read before the row that it can't read.
            var count: Int64 = 0
            do throws(BreakerStoreError) {
                return try damaged.forEach([.integer(last)]) { row in
                    count = row.integer(0) == last ? count + 1 : 1
                    last = row.integer(0)
                }
            } catch {
                let before = self.database.connection.changes
                guard error.isOfRefusedValue else { throw error }
                // To delete a row SQLite reads its whole key.
                try self.database.connection.withLongTexts { () throws(BreakerStoreError) in
                    try delete.run([.integer(last), .integer(count)])
                }
                guard self.database.connection.changes > before else { throw error }
            }
        }
    }

    // MARK: - Circuits

    /// The circuits whose rows can't be read, in a file that is intact otherwise.
    ///
    /// Called outside of a transaction: within one, SQLite refuses all further writes once it has met a row whose
    /// lengths don't fit.
    static func unreadable(in database: Database) throws(BreakerStoreError) -> [Int64: String?] {
        var found: [Int64: String?] = [:]
        for id in try database.all("SELECT id FROM circuit", read: { $0.integer(0) }) {
            do throws(BreakerStoreError) {
                _ = try Self.row(of: id, in: database)
            } catch {
                // A value that SQLite refuses does no harm within a transaction: `isWritable` finds it.
                if error.isOfRefusedValue { continue }
                guard error.code == .corrupt else { throw error }
                found[id] = .some(try? Self.storedName(of: id, in: database))
            }
        }
        return found
    }

    private static func row(of id: Int64, in database: Database) throws(BreakerStoreError) -> CircuitRow? {
        try database.first(Self.byID, .integer(id)) { row throws(BreakerStoreError) in
            try CircuitRow(row, name: "", in: database)
        }
    }

    /// The circuit's name; nil if it is not UTF-8.
    private static func storedName(of id: Int64, in database: Database) throws(BreakerStoreError) -> String? {
        try database.first("SELECT name FROM circuit WHERE id = ?1", .integer(id)) { row -> String? in
            guard let name = row.typedText(0), row.isUTF8(name, 0) else { return nil }
            return name
        } ?? nil
    }

    private static let byID = CircuitColumn.select { "SELECT \($0) FROM circuit WHERE id = ?1" }

    /// Whether the row can be read, and passes the table's checks when it is written.
    private func isWritable(_ id: Int64) throws(BreakerStoreError) -> Bool {
        if self.unreadable[id] != nil { return false }
        do throws(BreakerStoreError) {
            let row = try Self.row(of: id, in: self.database)
            // A later version's row may not pass the checks of this version's table. It stays as it is.
            guard let row, row.circuit.state.isKnown else { return true }
            try self.database.run("UPDATE circuit SET registered = registered WHERE id = ?1", .integer(id))
            return true
        } catch {
            guard error.isRowDamage else { throw error }
            return false
        }
    }

    private mutating func remove(_ id: Int64) throws(BreakerStoreError) {
        let name = self.name(of: id)
        self.hasRemoved = true
        try self.database.deleteCircuit(id)
        guard let name else {
            return self.note(nil, .forgotten, "a circuit whose name could not be read was removed")
        }
        self.removed.append(name)
        // Without a state before: `Transaction.isConfigured` distinguishes this event from a registration by that.
        self.note(name, .configured, "its row could not be read and was removed; a hold, too, if there was one")
    }

    /// The circuit's name; nil if it can't be read, or if no service could ask for a circuit of this name.
    private func name(of id: Int64) -> String? {
        let found =
            if let known = self.unreadable[id] {
                known
            } else {
                (try? self.database.connection.reading("name", of: "circuit", row: id) {
                    () throws(BreakerStoreError) in
                    try Self.storedName(of: id, in: self.database)
                }) ?? nil
            }
        guard let name = found, CircuitName.lengths.contains(name.unicodeScalars.count) else { return nil }
        return name
    }

    private mutating func note(_ circuit: String?, _ kind: CircuitEvent.Kind, _ reason: String) {
        self.notes.append(StoreNote(circuit: circuit, transition: Transition(kind: kind, reason: reason)))
    }
}
