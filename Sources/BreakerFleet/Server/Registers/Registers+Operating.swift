#if PostgreSQL
import BreakerStore

extension Registers {
    /// Stores an operator's command in place of an older command of its kind.
    ///
    /// A statement that is late or repeated does no harm, because the command carries its own time.
    ///
    /// - Parameter seen: the register whose commands the server must still have; nil for any.
    func send(
        _ command: OperatorCommand, of name: String, ifCommandsAre seen: Register? = nil
    ) throws(FleetError) -> Outcome {
        guard let stamp = command.stamp, OperatorCommand.sendable.contains(stamp.lamportTime) else { return .refused }
        let change = Self.change(command.kind)
        let event = self.recording(
            Self.event(of: command.kind), at: "least(said.at, t.now)", host: "said.host", by: "said.who",
            reason: "said.why")
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            said AS MATERIALIZED (
                SELECT $3::bigint AS at, $4::bigint AS number, $5 AS hold, $6::bigint AS time, $7 AS who, $8 AS why,
                $9 AS host, $10::bigint AS lease
            ),
            done AS (
                UPDATE fleet.circuit SET \(change.values)\(event)
                FROM t, said WHERE fleet = $1 AND name = $2 AND \(change.condition) AND \(Self.isUnchanged(since: seen))
                RETURNING generation
            )
            SELECT generation, pg_notify('\(FleetSchema.channel)', $11) FROM done
            """,
            [
                self.fleet, name, String(stamp.lamportTime), String(stamp.number), command.hold?.rawValue,
                command.holdFor.map { String(FleetLimits.duration($0)) }, command.by.map { ServerText.cut($0) },
                command.reason.map { ServerText.cut($0) }, self.host, String(self.lease), self.payload(for: name),
            ])
        return rows.first?.number(0).map { .accepted(generation: $0) } ?? .refused
    }

    /// The event of a command, in SQL.
    private static func event(of kind: OperatorCommand.Kind) -> String {
        switch kind {
        case .hold: "CASE said.hold WHEN 'open' THEN 'held-open' WHEN 'closed' THEN 'held-closed' ELSE 'released' END"
        case .reset: "'reset'"
        case .probe: "'probe-ordered'"
        }
    }

    /// The condition that the register has the commands that an operator has seen; a damaged one does not count.
    private static func isUnchanged(since seen: Register?) -> String {
        guard let seen else { return "true" }
        let kinds = [OperatorCommand.Kind.hold, .reset].filter { !seen.damagedCommands.contains($0) }
        let conditions = kinds.map { kind in
            let stamp = seen.command(kind)?.stamp
            func value(_ number: Int64?) -> String { number.map { String($0) } ?? "NULL" }
            return "(\(kind)_said, \(kind)_number) IS NOT DISTINCT FROM "
                + "(\(value(stamp?.lamportTime))::bigint, \(value(stamp?.number))::bigint)"
        }
        return (["true"] + conditions).joined(separator: " AND ")
    }

    /// The condition that the register has been in its state since before the operator gave the command.
    ///
    /// A stamp ahead of the server's clock is from before that clock was set back.
    private static let isInTime = "(since <= said.at OR since > t.now + \(slack))"

    private static func ifInTime(_ column: String, _ value: String) -> String {
        "\(column) = CASE WHEN \(isInTime) THEN \(value) ELSE \(column) END"
    }

    /// The condition that the register's command of this kind is older, damaged or missing.
    private static func isOlder(_ kind: String) -> String {
        "(NOT \(Self.hasCommand(kind)) OR (\(kind)_said, \(kind)_number) < (said.at, said.number))"
    }

    /// The change that a command makes to a register, and its condition.
    private static func change(_ kind: OperatorCommand.Kind) -> (values: String, condition: String) {
        switch kind {
        case .hold:
            // The generation stays: it counts changes of the state alone.
            (
                """
                hold_said = said.at, hold_number = said.number, hold = said.hold, hold_for = said.time,
                hold_by = said.who, hold_reason = said.why, \(noLease), changed = pg_current_xact_id()
                """, isOlder("hold")
            )
        case .reset:
            // If the register's state has changed since the command, the state stays.
            (
                """
                reset_said = said.at, reset_number = said.number, reset_by = said.who, reset_reason = said.why,
                \(ifInTime("generation", nextGeneration)), \(ifInTime("state", "'closed'")),
                \(ifInTime("since", "said.at")), \(ifInTime("open_until", "NULL")), \(ifInTime("open_for", "NULL")),
                \(ifInTime("trips", "0")), \(ifInTime("reason", "said.why")), \(ifInTime("said_by", "said.who")),
                \(ifInTime("lease_host", "NULL")), \(ifInTime("lease_ends", "NULL")),
                \(ifInTime("lease_for", "NULL")), changed = pg_current_xact_id()
                """, isOlder("reset")
            )
        case .probe:
            // This host's file already admits its probe, so no other host may probe now.
            (
                """
                \(next), open_until = t.now, reason = said.why, said_by = said.who, lease_host = said.host,
                lease_ends = t.now + said.lease, lease_for = said.lease
                """, "state = 'open' AND \(isInTime)"
            )
        }
    }

    /// Gives the server a register that it has in an older generation or not at all; the generation stays the same.
    ///
    /// The right to probe is not offered: another generation ends it in any case. Nor are commands: each host's file
    /// has the newest, and its link sends those that the server lacks.
    func offer(_ register: Register, as name: String) throws(FleetError) -> Outcome {
        guard (1...FleetLimits.readableGeneration).contains(register.generation) else { return .refused }
        let isOpen = register.state == .open
        let left = FleetLimits.duration(register.left)
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            done AS (
                INSERT INTO fleet.circuit AS c (fleet, name, generation, state, since, open_until, open_for, trips, reason,
                said_by, used)
                SELECT $1, $2, $3::bigint, $5, greatest(0, t.now - $6::bigint), t.now + $7::bigint, $8::bigint, $9::integer,
                $10, $11, t.now FROM t
                ON CONFLICT (fleet, name) DO UPDATE SET generation = excluded.generation, state = excluded.state,
                since = excluded.since, open_until = excluded.open_until, open_for = excluded.open_for,
                trips = excluded.trips, reason = excluded.reason, said_by = excluded.said_by, used = excluded.used,
                \(Self.noLease), changed = pg_current_xact_id()
                WHERE c.generation < excluded.generation
                RETURNING c.generation
            )
            SELECT generation, pg_notify('\(FleetSchema.channel)', $4) FROM done
            """,
            [
                self.fleet, name, String(register.generation), self.payload(for: name), register.state.rawValue,
                String(FleetLimits.duration(register.age)), isOpen ? String(left) : nil,
                isOpen ? String(max(left, FleetLimits.duration(register.openFor))) : nil,
                String(min(max(0, Int64(register.trips)), FleetLimits.trips)),
                register.reason.map { ServerText.cut($0) }, register.by.map { ServerText.cut($0) },
            ])
        return rows.first?.number(0).map { .accepted(generation: $0) } ?? .refused
    }
}
#endif
