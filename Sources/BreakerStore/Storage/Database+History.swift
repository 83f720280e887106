/// Events and workers.
extension Database {
    private static let eventColumns = """
        id, circuit, kind, at, was, becomes, reason, worker, worker_name, pid, operator
        """
    private static let newestEvents = SQL(
        composed: "SELECT \(eventColumns) FROM event ORDER BY id DESC LIMIT ?1"
    )
    private static let newestEventsOfOne = SQL(
        composed: "SELECT \(eventColumns) FROM event WHERE circuit = ?2 ORDER BY id DESC LIMIT ?1"
    )

    /// The newest first.
    ///
    /// A kind that this version does not know is left out.
    func events(of name: String?, limit: Int) throws(BreakerStoreError) -> [StoredEvent] {
        let limit = SQLValue.integer(Int64(max(0, limit)))
        guard let name else { return try self.all(Self.newestEvents, limit) { StoredEvent($0) }.compactMap(\.self) }
        return try self.all(Self.newestEventsOfOne, limit, .text(name)) { StoredEvent($0) }.compactMap(\.self)
    }

    private static let eventsAfter = SQL(
        composed: "SELECT \(eventColumns) FROM event WHERE id > ?1 ORDER BY id LIMIT 10000"
    )

    /// The oldest first.
    func events(after id: Int64) throws(BreakerStoreError) -> [StoredEvent] {
        try self.all(Self.eventsAfter, .integer(id)) { StoredEvent($0) }.compactMap(\.self)
    }

    /// The number of the newest event, or 0.
    func newestEvent() throws(BreakerStoreError) -> Int64 {
        try self.first("SELECT coalesce(max(id), 0) FROM event") { $0.integer(0) } ?? 0
    }

    func workers() throws(BreakerStoreError) -> [(worker: Worker, since: StoreTime)] {
        try self.all("SELECT id, name, pid, since FROM worker ORDER BY since, id") {
            (
                Worker(id: $0.integer(0), name: $0.text(1), pid: Int32(truncatingIfNeeded: $0.integer(2))),
                StoreTime(microseconds: $0.integer(3))
            )
        }
    }

    func circuitsProbed(by worker: Int64) throws(BreakerStoreError) -> [String] {
        try self.all(
            """
            SELECT DISTINCT circuit.name FROM probe JOIN circuit ON circuit.id = probe.circuit
            WHERE probe.worker = ?1 ORDER BY circuit.name
            """,
            .integer(worker)
        ) { $0.text(0) }
    }
}

extension StoredEvent {
    init?(_ row: Row) {
        guard let kind = CircuitEvent.Kind(rawValue: row.text(2)) else { return nil }
        self.init(
            id: row.integer(0),
            circuit: row.optionalText(1),
            transition: Transition(
                kind: kind,
                from: row.optionalText(4),
                to: row.optionalText(5),
                reason: row.optionalText(6)
            ),
            at: StoreTime(microseconds: row.integer(3)),
            worker: row.optionalInteger(7).map {
                Worker(id: $0, name: row.text(8), pid: Int32(truncatingIfNeeded: row.integer(9)))
            },
            by: row.optionalText(10)
        )
    }
}
