/// Reads circuits for a link by a few statements, however many circuits there are.
///
/// One value serves one reading of the file, inside one transaction.
final class LinkReading {
    /// Further rows of a circuit are not read, however many a program has written into the file.
    private static let mostFailures = 100_000
    private static let mostBoards = 10_000
    /// At most this many rows of a circuit that is not wanted are stepped over one by one.
    private static let mostStrangeRows = 1_000
    /// How many of the newest events of a circuit are read.
    private static let mostEvents = 64

    private struct Found {
        let row: CircuitRow
        var circuit: LinkedCircuit
        /// Whether older events of the history belong to an earlier circuit of this name.
        var isHistoryOver = false
    }

    private let view: StoreView
    private let database: Database
    private let now: StoreTime
    private let start: Int64
    /// The file's own number.
    let birth: Int64?
    private let board: BoardView
    /// Ordered by the circuits' numbers.
    private var found: [Found] = []
    private var places: [Int64: Int] = [:]

    /// Prepares to read circuits, and the events after number `start`.
    init(_ view: StoreView, eventsAfter start: Int64) throws(BreakerStoreError) {
        self.start = start
        self.view = view
        self.database = view.database
        self.now = view.clock.now
        self.birth = try ClockRow.read(view.database)?.birth
        self.board = BoardView(of: view.file, birth: self.birth, view.clock)
    }

    func circuits(matching pattern: String) throws(BreakerStoreError) -> [LinkedCircuit] {
        try self.readRows(matching: pattern)
        if self.found.contains(where: { $0.row.circuit.rules.keepsFailures }) { try self.readFailures() }
        if !self.found.isEmpty {
            try self.readRefusals()
            try self.readWords()
            try self.readEvents()
        }
        for place in self.found.indices where self.found[place].circuit.state == .halfOpen {
            let row = self.found[place].row
            var circuit = row.circuit
            circuit.probes = try self.database.probes(of: row.id, under: circuit.rules)
            let live = circuit.liveProbes(at: self.now, isAlive: self.view.isAlive)
            self.found[place].circuit.liveProbes = live.count
        }
        for place in self.found.indices { self.found[place].circuit.take(self.board.rates(of: self.found[place].row)) }
        return self.found.map(\.circuit)
    }

    // MARK: - The rows of circuits

    private static let rows = CircuitColumn.select {
        "SELECT \($0), name FROM circuit WHERE name GLOB ?1 ORDER BY id"
    }

    private func readRows(matching pattern: String) throws(BreakerStoreError) {
        try self.database.forEach(Self.rows, [.text(pattern)]) { self.take($0) }
    }

    private func take(_ row: Row) {
        let column = CircuitRow.columnCount
        let name = row.text(column)
        guard row.isUTF8(name, column), CircuitName.lengths.contains(name.unicodeScalars.count),
            let found = try? CircuitRow(row, name: name, in: self.database)
        else { return }
        self.places[found.id] = self.found.count
        self.found.append(Found(row: found, circuit: LinkedCircuit(found, named: name, at: self.now)))
    }

    // MARK: - What other tables have of them

    /// Passes the rows of a statement, with the place of their circuit, as long as `body` wants more of that circuit.
    ///
    /// The first column is the circuit's number, and the highest number comes first. The first two parameters are the
    /// highest and the lowest wanted number: to read one circuit of thousands steps through its rows alone.
    private func forEach(
        _ sql: SQL, _ values: SQLValue..., body: (Row, Int) -> Bool
    ) throws(BreakerStoreError) {
        guard let lowest = self.places.keys.min() else { return }
        var next = self.places.keys.max()
        while let last = next {
            next = nil
            var strange = (id: Int64.min, rows: 0)
            try self.database.read(sql, [.integer(last), .integer(lowest)] + values) { row in
                let id = row.integer(0)
                if let place = self.places[id] {
                    if body(row, place) { return true }
                } else {
                    strange = (id, strange.id == id ? strange.rows + 1 : 1)
                    if strange.rows < Self.mostStrangeRows { return true }
                }
                // SQLite finds the next circuit by the index, without stepping through the other rows of this circuit.
                next = id > .min ? id - 1 : nil
                return false
            }
        }
    }

    private static let failures: SQL = """
        SELECT circuit.id, failure.at, failure.worker, failure.sequence
        FROM circuit CROSS JOIN failure ON failure.circuit = circuit.id
        AND failure.at >= coalesce(circuit.failures_since, -9223372036854775808) WHERE circuit.id BETWEEN ?2 AND ?1
        ORDER BY circuit.id DESC, failure.at DESC, failure.worker DESC, failure.sequence DESC
        """

    private func readFailures() throws(BreakerStoreError) {
        // The newest first.
        var failures: [[Circuit.Failure]] = Array(repeating: [], count: self.found.count)
        try self.forEach(Self.failures) { row, place in
            failures[place].append(
                Circuit.Failure(
                    at: StoreTime(microseconds: row.integer(1)), worker: row.integer(2), sequence: row.integer(3)))
            return failures[place].count < self.mostFailures(at: place)
        }
        for (place, failures) in failures.enumerated() where !failures.isEmpty { self.take(failures, at: place) }
    }

    private func mostFailures(at place: Int) -> Int {
        min(Self.mostFailures, Int(clamping: Database.mostFailures(under: self.found[place].row.circuit.rules)))
    }

    /// Takes over a circuit's failures, which come newest first.
    private func take(_ failures: [Circuit.Failure], at place: Int) {
        let circuit = self.found[place].row.circuit
        guard circuit.rules.keepsFailures else { return }
        let start = circuit.startOfCounting(at: self.now)
        self.found[place].circuit.failures = failures.prefix(self.mostFailures(at: place)).reversed().compactMap {
            if let start, $0.at < start { return nil }
            return LinkedCircuit.Failure(
                key: LinkedCircuit.Key(worker: $0.worker, number: $0.sequence), age: self.age(of: $0.at))
        }
    }

    /// The age of a time; a time ahead counts as now.
    private func age(of time: StoreTime) -> Int64 { max(0, self.now.microseconds(since: time)) }

    private static let boards: SQL = """
        SELECT circuit.id, tally.board, tally.refused FROM circuit
        CROSS JOIN tally ON tally.circuit = circuit.id WHERE circuit.id BETWEEN ?2 AND ?1 ORDER BY circuit.id DESC
        """

    private func readRefusals() throws(BreakerStoreError) {
        // The counts of the present board; the file's counts of that board are older.
        let present = self.found.map { self.board.totals(of: $0.row) }
        var totals = present.map { $0 ?? CellTotals() }
        var boards = Array(repeating: 0, count: self.found.count)
        try self.forEach(Self.boards) { row, place in
            boards[place] += 1
            if present[place] == nil || row.integer(1) != self.board.number {
                totals[place].add(CellTotals(refused: UInt64(clamping: row.integer(2))))
            }
            return boards[place] < Self.mostBoards
        }
        for (place, total) in totals.enumerated() { self.found[place].circuit.refusals = total.refused }
    }

    private static let words: SQL = """
        SELECT circuit.id, kind, number, said_at, floor, at, word.hold, hold_for, operator, reason
        FROM circuit CROSS JOIN word ON word.circuit = circuit.id
        WHERE circuit.id BETWEEN ?2 AND ?1 AND kind IN ('hold', 'reset', 'probe') ORDER BY circuit.id DESC
        """

    private func readWords() throws(BreakerStoreError) {
        try self.forEach(Self.words) { row, place in
            if let word = LinkWord(row, at: self.now, from: 1) { self.found[place].circuit.words.append(word) }
            return self.found[place].circuit.words.count < 3
        }
    }

    // MARK: - The history

    // The inner query reads the index alone, so that a long history costs no more than `mostEvents` events.
    private static let events: SQL = """
        SELECT circuit.id, event.kind, event.at, event.operator
        FROM circuit CROSS JOIN event ON event.id IN (
            SELECT newest.id FROM event AS newest WHERE newest.circuit = circuit.name AND newest.id > ?4
            ORDER BY newest.id DESC LIMIT ?3
        )
        WHERE circuit.id BETWEEN ?2 AND ?1 ORDER BY circuit.id DESC, event.id DESC
        """

    private func readEvents() throws(BreakerStoreError) {
        try self.forEach(Self.events, .integer(Int64(Self.mostEvents)), .integer(self.start)) { row, place in
            if let kind = row.typedText(1).map(CircuitEvent.Kind.init(rawValue:)) {
                self.take(kind, at: StoreTime(microseconds: row.integer(2)), by: row.optionalText(3), place)
            }
            return true
        }
        for place in self.found.indices {
            if self.found[place].circuit.lacksTrip { try self.readTrip(place) }
        }
    }

    private static let trip: SQL = """
        SELECT at, operator FROM event
        WHERE circuit = ?1 AND kind = 'tripped' ORDER BY id DESC LIMIT 1
        """

    /// Searches further back for the beginning of a long outage: each failed probe has left two events since then.
    private func readTrip(_ place: Int) throws(BreakerStoreError) {
        guard !self.found[place].isHistoryOver else { return }
        let name = self.found[place].circuit.name
        try self.database.forEach(Self.trip, [.text(name)]) { row in
            self.take(.tripped, at: StoreTime(microseconds: row.integer(0)), by: row.optionalText(1), place)
        }
    }

    /// Takes an event over, called with the newest event first.
    private func take(
        _ kind: CircuitEvent.Kind, at time: StoreTime, by who: @autoclosure () -> String?, _ place: Int
    ) {
        if kind == .forgotten { self.found[place].isHistoryOver = true }
        guard !self.found[place].isHistoryOver, self.found[place].circuit.lacks(kind) else { return }
        self.found[place].circuit.take(LinkedCircuit.Event(kind: kind, age: self.age(of: time), by: who()))
    }
}
