/// What a link reads of a circuit beside its row and its failures.
extension LinkedCircuit {
    private static let words: SQL = """
        SELECT kind, number, said_at, floor, at, hold, hold_for, operator, reason FROM word
        WHERE circuit = ?1 AND kind IN ('hold', 'reset', 'probe')
        """

    mutating func readWords(of id: Int64, in database: Database, at now: StoreTime) throws(BreakerStoreError) {
        self.words = try database.all(Self.words, .integer(id)) { LinkWord($0, at: now) }.compactMap(\.self)
    }

    /// Only some of the newest events are read, however long the history is.
    private static let newest: SQL = """
        SELECT kind, at, operator FROM event WHERE circuit = ?1 AND id > ?2 ORDER BY id DESC LIMIT 64
        """
    private static let trip: SQL = """
        SELECT kind, at, operator FROM event WHERE circuit = ?1 AND kind = 'tripped' ORDER BY id DESC LIMIT 1
        """
    private static let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]

    /// Reads the newest transition after event number `start`, and the trip of an outage.
    mutating func readHistory(after start: Int64, in database: Database, at now: StoreTime) throws(BreakerStoreError) {
        var circuit = self
        // Whether older events belong to an earlier circuit of this name.
        var isOver = false
        try database.read(Self.newest, [.text(self.name), .integer(start)]) { row in
            let event = Event(row, at: now)
            isOver = event.kind == .forgotten
            if isOver { return false }
            if circuit.transition == nil, Self.transitions.contains(event.kind) { circuit.transition = event }
            if circuit.lacksTrip, event.kind == .tripped { circuit.trip = event }
            return circuit.transition == nil || circuit.lacksTrip
        }
        // Searches further back for the beginning of a long outage: each failed probe has left two events since then.
        if circuit.lacksTrip, !isOver {
            circuit.trip = try database.first(Self.trip, .text(self.name)) { Event($0, at: now) }
        }
        self = circuit
    }

    /// Whether an outage lasts whose trip was not found.
    private var lacksTrip: Bool {
        switch self.state {
        case .open, .halfOpen: self.trip == nil
        case .closed, .unknown: false
        }
    }
}

extension LinkedCircuit.Event {
    fileprivate init(_ row: Row, at now: StoreTime) {
        self.init(
            kind: CircuitEvent.Kind(rawValue: row.text(0)),
            age: max(0, now.microseconds(since: StoreTime(microseconds: row.integer(1)))),
            by: row.optionalText(2).map(LinkText.cut))
    }
}
