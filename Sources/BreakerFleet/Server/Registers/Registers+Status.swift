#if PostgreSQL
import BreakerStore

/// Reads the fleet's status for people.
extension Registers {
    /// The most hosts, or differing rules, in one answer.
    private static let maxRows = 10_000

    /// All hosts that have sent a heartbeat within about a day, joined hosts first.
    func hosts() throws(FleetError) -> [FleetStatus.Host] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time)
            SELECT host, program, session::text, abs(t.now - beat),
            (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(rules) WHEN 'object' THEN rules ELSE '{}' END)),
            trouble, t.now - trouble_since, file
            FROM fleet.link, t WHERE fleet = $1 ORDER BY abs(t.now - beat) >= \(Self.beatLifetime), host LIMIT \(Self.maxRows)
            """, [self.fleet])
        return rows.compactMap { row in
            guard let host = row.text(0) else { return nil }
            return FleetStatus.Host(
                name: ServerText.shown(host), program: ServerText.shown(row.text(1) ?? ""),
                session: ServerText.shown(row.text(2) ?? ""),
                file: ServerText.shown(row.text(7) ?? ""), beat: FleetLimits.duration(row.number(3) ?? .max),
                circuits: Int(min(max(0, row.number(4) ?? 0), Int64(FleetLimits.registers))),
                trouble: row.text(5).map { ServerText.shown($0) },
                troubleFor: row.number(6).map { FleetLimits.duration($0) })
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

    /// The rules of all circuits for which joined hosts have different rules; each host applies its own.
    func differingRules() throws(FleetError) -> [FleetStatus.Rule] {
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            told AS (
                SELECT l.host, r.key AS circuit, r.value AS rule
                FROM t, fleet.link AS l, jsonb_each_text(CASE jsonb_typeof(l.rules) WHEN 'object' THEN l.rules ELSE '{}' END) AS r
                WHERE l.fleet = $1 AND abs(t.now - l.beat) < \(Self.beatLifetime)
            )
            SELECT circuit, host, rule FROM told
            WHERE circuit IN (SELECT circuit FROM told GROUP BY circuit HAVING count(DISTINCT rule) > 1)
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
