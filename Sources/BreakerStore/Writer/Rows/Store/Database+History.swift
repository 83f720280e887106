/// Reads events and workers, and repairs row ids that are too high.
extension Database {
    private static let eventColumns = """
        id, circuit, kind, at, was, becomes, reason, worker, worker_name, pid, operator, subject, failed,
        refused
        """
    private static let newestEvents = SQL(composed: "SELECT \(eventColumns) FROM event ORDER BY id DESC LIMIT ?1")
    private static let newestEventsOfOne = SQL(
        composed: "SELECT \(eventColumns) FROM event WHERE circuit = ?2 ORDER BY id DESC LIMIT ?1"
    )
    private static let eventsAfter = SQL(
        composed: "SELECT \(eventColumns) FROM event WHERE id > ?1 ORDER BY id LIMIT ?2"
    )
    private static let eventsOfOneAfter = SQL(
        composed: "SELECT \(eventColumns) FROM event WHERE circuit = ?3 AND id > ?1 ORDER BY id LIMIT ?2"
    )

    struct HistoryPage {
        var events: [StoredEvent] = []
        /// The row id of the last row that was read, even if its event can't be read.
        var last: Int64?
    }

    /// Reads the newest events, newest first; leaves out rows without a kind.
    func events(of name: String?, limit: Int) throws(BreakerStoreError) -> [StoredEvent] {
        let limit = SQLValue.integer(Int64(max(0, limit)))
        guard let name else { return try self.page(Self.newestEvents, [limit]).events }
        return try self.page(Self.newestEventsOfOne, [limit, .text(name)]).events
    }

    /// Reads the events that follow row id `id`, oldest first.
    func events(
        of name: String? = nil, after id: Int64, limit: Int = 10_000
    ) throws(BreakerStoreError) -> HistoryPage {
        let values = [SQLValue.integer(id), .integer(Int64(max(0, limit)))]
        guard let name else { return try self.page(Self.eventsAfter, values) }
        return try self.page(Self.eventsOfOneAfter, values + [.text(name)])
    }

    /// How many bytes of unusually long texts one read of the history brings into memory.
    private static let maxBytesOfLongTexts = 8 << 20

    private func page(_ sql: SQL, _ values: [SQLValue]) throws(BreakerStoreError) -> HistoryPage {
        var page = HistoryPage()
        var size = 0
        try self.read(sql, values) { row in
            page.last = row.integer(0)
            guard let event = StoredEvent(row) else { return true }
            size += event.excess
            page.events.append(event)
            return size < Self.maxBytesOfLongTexts
        }
        return page
    }

    private static let newestTrips: SQL =
        "SELECT circuit, at, kind = 'tripped' FROM event ORDER BY id DESC LIMIT 100000"

    /// When circuits have tripped since `start`, as far as the history reaches back; the newest first.
    func trips(since start: StoreTime) throws(BreakerStoreError) -> [CircuitName: [StoreTime]] {
        var trips: [CircuitName: [StoreTime]] = [:]
        // In the order of ids, so that only the rows since then are read: there is no index of times.
        try self.read(Self.newestTrips, []) { row in
            let at = StoreTime(microseconds: row.integer(1))
            if at >= start, row.integer(2) == 1, let name = row.optionalText(0) {
                trips[CircuitName(name), default: []].append(at)
            }
            return at >= start
        }
        return trips
    }

    private static let transitions: SQL = """
        SELECT kind, count FROM transition WHERE circuit = (SELECT id FROM circuit WHERE name = ?1)
        ORDER BY kind LIMIT 100
        """

    /// How many events of each kind a circuit has had.
    func transitions(of name: String) throws(BreakerStoreError) -> [(kind: CircuitEvent.Kind, count: Int64)] {
        try self.all(Self.transitions, .text(name)) { (.init(rawValue: $0.text(0)), $0.integer(1)) }
    }

    // Separate statements: to compile a single one for all would take an opening twice as long.
    private static let highestEvent: SQL = "SELECT max(id) FROM event"
    private static let highestCircuit: SQL = "SELECT max(id) FROM circuit"
    private static let highestSequence: SQL = """
        SELECT max(seq) FROM sqlite_sequence WHERE name IN ('circuit', 'event') AND typeof(seq) = 'integer'
        """
    private static let sequenceOfEvents: SQL = """
        SELECT max(seq) FROM sqlite_sequence WHERE name = 'event' AND typeof(seq) = 'integer' AND seq <= ?1
        """

    private func number(_ sql: SQL, _ values: SQLValue...) throws(BreakerStoreError) -> Int64 {
        try self.first(sql, values) { $0.integer(0) } ?? 0
    }

    /// The row id of the newest event, even if that event was deleted with its circuit; 0 if there was none.
    func newestEvent() throws(BreakerStoreError) -> Int64 {
        try max(self.number(Self.highestEvent), self.number(Self.sequenceOfEvents, .integer(Self.maxRowID)), 0)
    }

    /// The time of an event; nil if there is none with this row id.
    func time(ofEvent id: Int64) throws(BreakerStoreError) -> StoreTime? {
        try self.first("SELECT at FROM event WHERE id = ?1", .integer(id)) { StoreTime(microseconds: $0.integer(0)) }
    }

    /// A row id that no program ever reaches by counting.
    ///
    /// SQLite makes no row id above the greatest possible integer: it reports a full disk instead.
    private static let maxRowID: Int64 = 1 << 62

    /// Whether a program has given events or circuits row ids so high that SQLite soon has none left.
    var isRowIDSpaceExhausted: Bool {
        get throws(BreakerStoreError) {
            try max(
                self.number(Self.highestEvent), self.number(Self.highestCircuit), self.number(Self.highestSequence)
            ) > Self.maxRowID
        }
    }

    /// Deletes the rows with such ids, so that SQLite continues after the others; called inside a transaction.
    func repairRowIDs(by deletions: [SQL] = StoreTable.ofCircuitsAbove) throws(BreakerStoreError) {
        try self.connection.withLongTexts { () throws(BreakerStoreError) in
            for sql in deletions + ["DELETE FROM event WHERE id > ?1"] {
                try self.run(sql, .integer(Self.maxRowID))
            }
        }
        // No circuit that is registered again may have the epoch of a deleted circuit.
        try self.run(
            "UPDATE clock SET epoch_floor = max(epoch_floor, reserved) + ?1 WHERE typeof(epoch_floor) = 'integer'",
            .integer(ClockRow.reserve))
        try self.run(
            "DELETE FROM sqlite_sequence WHERE name IN ('circuit', 'event') AND seq > ?1",
            .integer(Self.maxRowID))
    }

    private static let allWorkers: SQL =
        "SELECT id, name, pid, version, since FROM worker ORDER BY since, id LIMIT 10000"

    /// All workers' rows, alive or dead.
    ///
    /// The limit is above the number of workers that one host ever runs.
    func workers() throws(BreakerStoreError) -> [(worker: Worker, since: StoreTime)] {
        try self.all(Self.allWorkers) {
            (
                Worker(
                    id: $0.worker(0), name: $0.text(1), pid: Int32(truncatingIfNeeded: $0.integer(2)),
                    version: $0.optionalText(3)),
                StoreTime(microseconds: $0.integer(4))
            )
        }
    }

    /// How many registered workers of a circuit are read at most.
    static let maxUsersRead = 10_000

    /// The workers that have registered a circuit.
    func workers(using name: String) throws(BreakerStoreError) -> [WorkerID] {
        try self.all(
            "SELECT worker FROM registration WHERE circuit = (SELECT id FROM circuit WHERE name = ?1) LIMIT ?2",
            .text(name), .integer(Int64(Self.maxUsersRead))
        ) { $0.worker(0) }
    }

    /// The names of the circuits of which a worker has a probe's slot.
    func circuitsProbed(by worker: WorkerID) throws(BreakerStoreError) -> [String] {
        try self.all(
            """
            SELECT DISTINCT circuit.name FROM probe JOIN circuit ON circuit.id = probe.circuit
            WHERE probe.worker = ?1 ORDER BY circuit.name
            """,
            SQLValue(worker)
        ) { $0.text(0) }
    }
}

extension StoredEvent {
    /// The bytes of the event's texts beyond 8 KiB, which the library itself does not reach.
    fileprivate var excess: Int {
        let transition = self.transition
        let texts = [
            self.circuit, transition.from, transition.to, transition.reason, transition.subject, self.by,
        ]
        return max(0, texts.reduce(self.worker?.name.utf8.count ?? 0) { $0 + ($1?.utf8.count ?? 0) } - 8_192)
    }

    init?(_ row: Row) {
        guard let kind = row.typedText(2).map(CircuitEvent.Kind.init(rawValue:)) else { return nil }
        self.init(
            id: row.integer(0),
            circuit: row.optionalText(1),
            transition: Transition(
                kind: kind,
                from: row.optionalText(4),
                to: row.optionalText(5),
                reason: row.optionalText(6),
                subject: row.optionalText(11)
            ),
            at: StoreTime(microseconds: row.integer(3)),
            worker: row.optionalWorker(7).map {
                Worker(id: $0, name: row.text(8), pid: Int32(truncatingIfNeeded: row.integer(9)))
            },
            by: row.optionalText(10),
            ended: CircuitRow.FailedAndRefused(row, 12, 13)
        )
    }
}
