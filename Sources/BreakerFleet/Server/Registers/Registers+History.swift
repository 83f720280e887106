#if PostgreSQL
import BreakerStore

/// The newest changes of each register, in its own row, so that they need no further rights.
extension Registers {
    private static let maxEvents = 50

    /// The assignment that adds an event to a register's history, after a comma; empty for a schema that keeps none.
    ///
    /// The arguments are SQL.
    func recording(
        _ event: String, at time: String = "t.now", host: String, by who: String = "NULL", reason: String
    )
        -> String
    {
        guard self.keepsHostReports else { return "" }
        return """
            , history = (jsonb_build_array(jsonb_build_object('at', \(time), 'event', \(event), 'host', nullif(\(host), ''),
            'by', \(who), 'reason', \(reason))) || history) - \(Self.maxEvents)
            """
    }

    /// A circuit that this host has opened by its own rule, or one whose own trip is over.
    enum OwnChange: Sendable, Hashable {
        case tripped(OwnTrip)
        case ended(circuit: String)
    }

    /// Adds own trips of this host, and their ends, to the histories; one that is there already is not added again.
    ///
    /// The registers stay as they are, so no link reads them again.
    func record(_ changes: [OwnChange]) throws(FleetError) {
        guard self.keepsHostReports, !changes.isEmpty else { return }
        let rows = changes.map { change -> (String, Int64, FleetEvent.Kind, String?) in
            switch change {
            case .tripped(let trip): (trip.circuit, trip.age, FleetEvent.Kind.ownTrip, trip.lastError)
            case .ended(let circuit): (circuit, 0, FleetEvent.Kind.ownEnd, nil)
            }
        }
        let event = self.recording("o.event", at: "greatest(0, t.now - o.age)", host: "$2", reason: "o.error")
        // Here it is the only assignment, so its comma must go.
        let assignment = event.dropFirst(2)
        let own = "('\(FleetEvent.Kind.ownTrip.rawValue)', '\(FleetEvent.Kind.ownEnd.rawValue)')"
        // All hosts lock the rows in one order, so that two that record the same circuits can't deadlock.
        try self.connection.run(
            """
            WITH \(Self.time),
            locked AS MATERIALIZED (
                SELECT name FROM fleet.circuit WHERE fleet = $1 AND name = ANY ($3::text[]) ORDER BY name FOR NO KEY UPDATE
            )
            UPDATE fleet.circuit AS c SET \(assignment)
            FROM t, locked JOIN unnest($3::text[], $4::bigint[], $5::text[], $6::text[]) AS o (circuit, age, event, error)
            ON o.circuit = locked.name
            WHERE c.fleet = $1 AND c.name = locked.name AND o.event <> coalesce((
                SELECT e ->> 'event' FROM jsonb_array_elements(history) AS e
                WHERE e ->> 'host' = $2 AND e ->> 'event' IN \(own) LIMIT 1
            ), '\(FleetEvent.Kind.ownEnd.rawValue)')
            """,
            [
                self.fleet, self.host, ServerText.array(rows.map(\.0)),
                ServerText.array(rows.map { FleetLimits.duration($0.1) }), ServerText.array(rows.map(\.2.rawValue)),
                ServerText.array(rows.map { $0.3.map { ServerText.cut($0) } }),
            ])
    }

    /// The circuits that this host has opened by its own rules, as its last heartbeat said.
    func reportedOwnTrips() throws(FleetError) -> Names {
        guard self.keepsHostReports else { return [] }
        let rows = try self.connection.run(
            """
            SELECT jsonb_object_keys(CASE jsonb_typeof(own_trips -> 'circuits') WHEN 'object' THEN own_trips -> 'circuits'
            ELSE '{}' END) FROM fleet.link WHERE fleet = $1 AND host = $2 LIMIT \(FleetLimits.registers)
            """, [self.fleet, self.host])
        return Names(rows.compactMap { $0.text(0) })
    }

    /// The history of a register, oldest event first; events of an unknown kind are left out.
    func history(of name: String) throws(FleetError) -> [FleetEvent] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time)
            SELECT t.now, e ->> 'at', e ->> 'event', e ->> 'host', e ->> 'by', e ->> 'reason'
            FROM t, fleet.circuit, jsonb_array_elements(history) AS e WHERE fleet = $1 AND name = $2 LIMIT 1000
            """, [self.fleet, name])
        let events = rows.compactMap { row -> FleetEvent? in
            guard let now = row.number(0), let kind = row.text(2).flatMap({ FleetEvent.Kind(rawValue: $0) }) else {
                return nil
            }
            func text(_ column: Int) -> String? { row.text(column).map { ServerText.shown($0) } }
            return FleetEvent(
                kind: kind, age: Register.age(of: row.number(1), at: now), host: text(3), by: text(4), reason: text(5))
        }
        // A command of a host that was cut off came late.
        return events.reversed().sorted { $0.age > $1.age }
    }
}
#endif
