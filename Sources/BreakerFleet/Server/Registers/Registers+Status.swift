#if PostgreSQL
import BreakerStore

/// Reads the fleet's status for people.
extension Registers {
    /// The most hosts, or differing rules, in one answer.
    private static let maxRows = 10_000

    /// All hosts that are not forgotten: joined ones first, those that have left last.
    ///
    /// Schemas of version 2.0 have no column `left_at`.
    func hosts() throws(FleetError) -> [FleetStatus.Host] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            listed AS (
                SELECT l.*, (to_jsonb(l) ->> 'left_at')::bigint AS end_at, abs(t.now - beat) >= \(Self.beatLifetime) AS is_silent
                FROM fleet.link AS l, t WHERE fleet = $1
            )
            SELECT host, program, session::text, abs(t.now - beat),
            (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(rules) WHEN 'object' THEN rules ELSE '{}' END)),
            trouble, t.now - trouble_since, file, CASE WHEN end_at > beat THEN t.now - end_at END
            FROM listed, t ORDER BY is_silent, coalesce(end_at > beat, false), host LIMIT \(Self.maxRows)
            """, [self.fleet])
        return rows.compactMap { row in
            guard let host = row.text(0) else { return nil }
            return FleetStatus.Host(
                name: ServerText.shown(host), storedName: host, program: ServerText.shown(row.text(1) ?? ""),
                session: ServerText.shown(row.text(2) ?? ""),
                file: ServerText.shown(row.text(7) ?? ""), beat: FleetLimits.duration(row.number(3) ?? .max),
                circuits: Int(min(max(0, row.number(4) ?? 0), Int64(FleetLimits.registers))),
                trouble: row.text(5).map { ServerText.shown($0) },
                troubleFor: row.number(6).map { FleetLimits.duration($0) },
                leftFor: row.number(8).map { FleetLimits.duration($0) })
        }
    }

    /// All registers, open and held ones first, without damaged ones.
    func all() throws(FleetError) -> [FleetCircuit] {
        let rows = try self.connection.run(
            """
            WITH \(Self.seen(at: 2)) SELECT \(Self.columns) FROM t JOIN fleet.circuit AS c ON c.fleet = $1
            ORDER BY c.state = 'open' OR \(Self.isHeld) DESC, c.name LIMIT \(FleetLimits.registers)
            """, [self.fleet, nil])
        return rows.compactMap { Register(row: $0).map { FleetCircuit($0) } }
    }

    /// The circuits that joined hosts have opened by their own rules.
    ///
    /// Ignores what an earlier link of the host has reported: a link of an older release leaves it in the row.
    func ownTrips() throws(FleetError) -> [FleetStatus.OwnTrip] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            reported AS (
                SELECT l.host, to_jsonb(l) #> '{own_trips,circuits}' AS circuits FROM fleet.link AS l, t
                WHERE fleet = $1 AND abs(t.now - beat) < \(Self.beatLifetime)
                AND to_jsonb(l) #>> '{own_trips,session}' = session::text
            )
            SELECT o.key, reported.host, o.value ->> 'state', o.value ->> 'since', t.now, o.value ->> 'error'
            FROM t, reported, jsonb_each(CASE jsonb_typeof(circuits) WHEN 'object' THEN circuits ELSE '{}' END) AS o
            ORDER BY o.key, reported.host LIMIT \(Self.maxRows)
            """, [self.fleet])
        return rows.compactMap { row in
            guard let circuit = row.text(0), let host = row.text(1), let now = row.number(4) else { return nil }
            return FleetStatus.OwnTrip(
                circuit: circuit, host: ServerText.shown(host), isHalfOpen: row.text(2) == "half-open",
                age: Register.age(of: row.number(3), at: now), lastError: row.text(5).map { ServerText.shown($0) })
        }
    }

    /// The rules of all circuits for which joined hosts have different rules; each host applies its own.
    func differingRules() throws(FleetError) -> [FleetStatus.Rule] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            reported AS (
                SELECT l.host, r.key AS circuit, r.value AS rule
                FROM t, fleet.link AS l, jsonb_each_text(CASE jsonb_typeof(l.rules) WHEN 'object' THEN l.rules ELSE '{}' END) AS r
                WHERE l.fleet = $1 AND abs(t.now - l.beat) < \(Self.beatLifetime)
            )
            SELECT circuit, host, rule FROM reported
            WHERE circuit IN (SELECT circuit FROM reported GROUP BY circuit HAVING count(DISTINCT rule) > 1)
            ORDER BY circuit, rule, host LIMIT \(Self.maxRows)
            """, [self.fleet])
        return rows.compactMap { row in
            guard let circuit = row.text(0), let host = row.text(1) else { return nil }
            return FleetStatus.Rule(
                circuit: circuit, host: ServerText.shown(host), rule: ServerText.shown(row.text(2) ?? ""))
        }
    }
}
#endif
