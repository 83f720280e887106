extension OperatorCommand {
    private static let commands: SQL = """
        SELECT kind, number, lamport_time, floor, at, command.hold, hold_for, operator, reason, circuit.id
        FROM circuit CROSS JOIN command ON command.circuit = circuit.id AND kind IN ('hold', 'reset', 'probe')
        WHERE name GLOB ?1
        """

    /// The commands about circuits whose names match a pattern, by the circuits' ids.
    static func read(
        _ pattern: String, in database: Database, at now: StoreTime
    ) throws(BreakerStoreError) -> [Int64: [OperatorCommand]] {
        var found: [Int64: [OperatorCommand]] = [:]
        try database.forEach(Self.commands, [.text(pattern)]) { row in
            if let command = OperatorCommand(row, at: now) { found[row.integer(9), default: []].append(command) }
        }
        return found
    }
}

extension Database {
    private static let changed: SQL = "SELECT circuit FROM event WHERE id > ?1 LIMIT 1000"

    /// The circuits of the events after an id; nil if there are too many such events, or the id is 0.
    func circuits(withEventsAfter start: Int64) throws(BreakerStoreError) -> Set<CircuitName>? {
        guard start > 0 else { return nil }
        let names = try self.all(Self.changed, .integer(start)) { CircuitName($0.text(0)) }
        return names.count < 1_000 ? Set(names) : nil
    }
}

/// The part of the history that a link needs.
extension LinkedCircuit {
    /// Only some of the newest events are read, however long the history is.
    private static let newest: SQL = """
        SELECT kind, at, operator FROM event WHERE circuit = ?1 AND id > ?2 ORDER BY id DESC LIMIT 64
        """
    private static let trip: SQL = """
        SELECT kind, at, operator FROM event WHERE circuit = ?1 AND kind = 'tripped' ORDER BY id DESC LIMIT 1
        """
    private static let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]

    /// Reads the newest transition after the event with the id `start`, and the trip that began the outage.
    mutating func readHistory(after start: Int64, in database: Database, at now: StoreTime) throws(BreakerStoreError) {
        var circuit = self
        // If so, all older events are about an earlier circuit of this name.
        var isForgotten = false
        try database.read(Self.newest, [.text(self.name), .integer(start)]) { row in
            let event = Event(row, at: now)
            isForgotten = event.kind == .forgotten
            if isForgotten { return false }
            if circuit.transition == nil, Self.transitions.contains(event.kind) { circuit.transition = event }
            if circuit.lacksTrip, event.kind == .tripped { circuit.trip = event }
            return circuit.transition == nil || circuit.lacksTrip
        }
        // Searches further back for the trip of a long outage: each failed probe has added two events since.
        if circuit.lacksTrip, !isForgotten {
            circuit.trip = try database.first(Self.trip, .text(self.name)) { Event($0, at: now) }
        }
        self = circuit
    }

    /// Whether the circuit is in an outage whose trip was not found.
    var lacksTrip: Bool {
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
