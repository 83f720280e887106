/// Deletes rows that no program of this library can have written.
///
/// SQLite checks a whole row when a statement changes one column, so every change of such a row fails: the circuit
/// never trips, and no process can open the store. No value of such a row is worth guessing. A process that uses a
/// circuit registers it again; a worker writes its own row again. Healing reads the whole file in a transaction of its
/// own, so the store heals only after a statement has met such a row.
struct Healing {
    private let database: Database
    private let start: ClockRow.Start

    private(set) var notes: [StoreNote] = []
    /// The names of the circuits whose rows were deleted.
    private(set) var removed: [String] = []

    init(_ database: Database, at start: ClockRow.Start) {
        self.database = database
        self.start = start
    }

    private var hasRemoved = false

    /// Circuits start at this epoch or above after the healing, so that no late result for a removed circuit counts,
    /// even if the removed circuit began at the last floor.
    var epochFloor: Int64 {
        let row = self.start.row
        return self.hasRemoved ? max(row.reserved, row.epochFloor).addingSaturating(ClockRow.reserve) : 0
    }

    mutating func run() throws(BreakerStoreError) {
        try self.dropRows()
        for id in try self.ids() where try !self.isWritable(id) { try self.remove(id) }
        // The removal may have deleted rows that the notes count.
        try self.database.run("UPDATE circuit SET failures = NULL WHERE failures IS NOT NULL")
        try self.database.run(
            "UPDATE clock SET epoch_floor = max(epoch_floor, ?1) WHERE id = 1", .integer(self.epochFloor))
    }

    private func ids() throws(BreakerStoreError) -> [Int64] {
        try self.database.all("SELECT id FROM circuit") { $0.integer(0) }
    }

    private mutating func dropRows() throws(BreakerStoreError) {
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
            """
            DELETE FROM worker
            WHERE typeof(name) <> 'text' OR typeof(pid) <> 'integer' OR typeof(since) <> 'integer'
            """,
            """
            DELETE FROM tally WHERE typeof(circuit) <> 'integer' OR typeof(board) <> 'integer'
            OR typeof(succeeded) <> 'integer' OR typeof(failed) <> 'integer' OR typeof(slow) <> 'integer'
            OR typeof(ignored) <> 'integer' OR typeof(refused) <> 'integer'
            """,
            """
            DELETE FROM duration WHERE typeof(circuit) <> 'integer' OR typeof(board) <> 'integer'
            OR typeof(bucket) <> 'integer' OR typeof(count) <> 'integer'
            """,
            """
            DELETE FROM transition WHERE typeof(circuit) <> 'integer' OR typeof(kind) <> 'text'
            OR typeof(count) <> 'integer'
            """,
            """
            DELETE FROM word WHERE typeof(circuit) <> 'integer' OR typeof(kind) <> 'text'
            OR typeof(number) <> 'integer' OR typeof(said_at) NOT IN ('integer', 'null')
            OR typeof(floor) <> 'integer' OR typeof(at) <> 'integer' OR typeof(hold) NOT IN ('text', 'null')
            OR typeof(hold_for) NOT IN ('integer', 'null') OR typeof(operator) NOT IN ('text', 'null')
            OR typeof(reason) NOT IN ('text', 'null')
            """,
            """
            DELETE FROM predecessor WHERE typeof(birth) NOT IN ('integer', 'null')
            OR typeof(epoch) NOT IN ('integer', 'null') OR typeof(epoch_here) NOT IN ('integer', 'null')
            OR typeof(restored_hold) <> 'integer' OR typeof(restored_open) <> 'integer' OR typeof(at) <> 'integer'
            OR typeof(place) NOT IN ('integer', 'null')
            """,
        ] {
            // To find a value's type, SQLite does not read the value, however long the value is.
            try self.database.connection.withoutLimit { () throws(BreakerStoreError) in try self.database.run(sql) }
        }
        try self.dropLongTexts()
        let count = self.database.connection.changes - before
        guard count > 0 else { return }
        let rows = count == 1 ? "1 row" : "\(count) rows"
        self.note(nil, .restored, "\(rows) that could not be read \(count == 1 ? "was" : "were") removed")
    }

    private static let longTexts: [(look: SQL, delete: SQL)] = [
        (
            "SELECT id, name, version FROM worker WHERE id > ?1 ORDER BY id",
            "DELETE FROM worker WHERE id = (SELECT min(id) FROM worker WHERE id > ?1)"
        ),
        (
            """
            SELECT id, circuit, kind, was, becomes, reason, subject, worker_name, operator FROM event WHERE id > ?1
            ORDER BY id
            """, "DELETE FROM event WHERE id = (SELECT min(id) FROM event WHERE id > ?1)"
        ),
    ]
    private static let longTextsOfACircuit: [(look: SQL, delete: SQL)] = [
        ("SELECT worker_name FROM probe WHERE circuit = ?1", "DELETE FROM probe WHERE circuit = ?1"),
        ("SELECT kind FROM transition WHERE circuit = ?1", "DELETE FROM transition WHERE circuit = ?1"),
        ("SELECT kind, hold, operator, reason FROM word WHERE circuit = ?1", "DELETE FROM word WHERE circuit = ?1"),
    ]

    /// Deletes workers and events with a text that is too long to be read, and all probes, all transition counts or all
    /// words of a circuit if one of them has such a text.
    private func dropLongTexts() throws(BreakerStoreError) {
        for (look, delete) in Self.longTexts {
            var last = Int64.min
            // SQLite stops before a row that it can't read.
            while try !self.reads(look, [.integer(last)], { last = $0.integer(0) }) {
                try self.delete(delete, .integer(last))
            }
        }
        for id in try self.ids() {
            for (look, delete) in Self.longTextsOfACircuit where try !self.reads(look, [.integer(id)], { _ in }) {
                try self.delete(delete, .integer(id))
            }
        }
    }

    /// Runs a DELETE for which SQLite may read long texts, because it reads the deleted rows' whole keys.
    private func delete(_ sql: SQL, _ number: SQLValue) throws(BreakerStoreError) {
        try self.database.connection.withLongTexts { () throws(BreakerStoreError) in
            try self.database.run(sql, number)
        }
    }

    /// Whether SQLite can read all rows that a statement finds, because none has a text that is too long.
    private func reads(_ sql: SQL, _ values: [SQLValue], _ body: (Row) -> Void) throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            try self.database.forEach(sql, values) { row in body(row) }
            return true
        } catch {
            guard error.isOfRefusedValue else { throw error }
            return false
        }
    }

    // MARK: - Circuits

    private static let byID = CircuitColumn.select { "SELECT \($0) FROM circuit WHERE id = ?1" }

    /// Whether the row can be read, and passes the table's checks when it is written.
    private func isWritable(_ id: Int64) throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            let row = try self.database.first(Self.byID, .integer(id)) { row throws(BreakerStoreError) in
                try CircuitRow(row, name: "", in: self.database)
            }
            // A later version's row may not pass the checks of this version's table. It stays as it is.
            guard let row, row.circuit.state.isKnown else { return true }
            try self.database.run("UPDATE circuit SET registered = registered WHERE id = ?1", .integer(id))
            return true
        } catch {
            guard error.isOfUnusableRow else { throw error }
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
        // No state before: by that `Transaction.isConfigured` distinguishes this event from a registration's.
        self.note(name, .configured, "its row could not be read and was removed; a hold, too, if there was one")
    }

    /// The circuit's name; nil if it can't be read, or if no service could ask for a circuit of this name.
    private func name(of id: Int64) -> String? {
        let found = try? self.database.connection.reading("name", of: "circuit", row: id) {
            () throws(BreakerStoreError) in
            try self.database.first("SELECT name FROM circuit WHERE id = ?1", .integer(id)) { row -> String? in
                guard let name = row.typedText(0), row.isUTF8(name, 0) else { return nil }
                return name
            } ?? nil
        }
        guard let name = (found ?? nil) ?? nil, CircuitName.lengths.contains(name.unicodeScalars.count) else {
            return nil
        }
        return name
    }

    private mutating func note(_ circuit: String?, _ kind: CircuitEvent.Kind, _ reason: String) {
        self.notes.append(StoreNote(circuit: circuit, transition: Transition(kind: kind, reason: reason)))
    }
}
