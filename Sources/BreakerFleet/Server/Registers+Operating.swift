#if PostgreSQL
import BreakerStore

extension Registers {
    /// What a person did on this host: once for each key, and only if nobody has said anything since.
    ///
    /// Without a register nothing is done, and the key is not kept: what was said can be said again.
    func operate(
        _ name: String, _ operation: Request.Operation, key: LinkedCircuit.Key, age: Int64, sentAt time: Int64?,
        by: String?, reason: String?
    ) throws(FleetError) -> Outcome {
        let change = Self.change(operation)
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            said AS MATERIALIZED (
                SELECT greatest(0, least(t.now, $12::bigint) - $5::bigint) AS at, $6 AS who, $7 AS why, $9::bigint AS time, $10 AS host,
                $11::bigint AS lease FROM t
            ),
            kept AS (
                INSERT INTO fleet.op (fleet, circuit, worker, number, at) SELECT $1, $2, $3::bigint, $4::bigint, t.now
                FROM t WHERE EXISTS (SELECT 1 FROM fleet.circuit WHERE fleet = $1 AND name = $2)
                ON CONFLICT DO NOTHING RETURNING 1
            ),
            done AS (
                UPDATE fleet.circuit SET \(Self.next), \(change.values)
                FROM t, said, kept WHERE fleet = $1 AND name = $2 AND \(Self.isNotLater("op_at"))
                AND \(change.condition)
                RETURNING generation
            )
            SELECT generation, pg_notify('\(FleetSchema.channel)', $8) FROM done
            """,
            [
                self.fleet, name, String(key.worker), String(key.number), String(FleetLimits.duration(age)),
                by.map { ServerText.cut($0) }, reason.map { ServerText.cut($0) }, self.payload(for: name),
                change.duration.map { String(FleetLimits.duration($0)) }, self.host, String(self.lease),
                time.map { String($0) },
            ])
        return rows.first?.number(0).map { .accepted(generation: $0) } ?? .refused
    }

    /// Whether what a stamp stands for was not later than what is said now.
    ///
    /// A stamp ahead of the server's clock is from before somebody set the clock back.
    private static func isNotLater(_ stamp: String) -> String {
        "(\(stamp) <= said.at OR \(stamp) > t.now + \(slack))"
    }

    /// One value if the register is in its state for longer than what is said now, and else another.
    private static func ifInTime(_ value: String, else other: String) -> String {
        "CASE WHEN \(isNotLater("since")) THEN \(value) ELSE \(other) END"
    }

    /// What becomes of a register, and under which condition beside the ones for all.
    private static func change(
        _ operation: Request.Operation
    )
        -> (values: String, condition: String, duration: Int64?)
    {
        switch operation {
        case .reset:
            // Of a circuit that has tripped or closed since, the reset ends the hold alone: another word that is older
            // than the reset must not stay in force.
            (
                """
                state = \(ifInTime("'closed'", else: "state")), since = \(ifInTime("said.at", else: "since")),
                open_until = \(ifInTime("NULL", else: "open_until")), open_for = \(ifInTime("NULL", else: "open_for")),
                trips = \(ifInTime("0", else: "trips")), reason = \(ifInTime("said.why", else: "reason")),
                said_by = \(ifInTime("said.who", else: "said_by")),
                is_reset = \(ifInTime("true", else: "is_reset")), op_at = said.at,
                \(noHold), \(noLease)
                """, "true", nil
            )
        case .probe:
            // The file lets its probe through already: nobody else may now. A hold that was said before, and comes
            // later, is not taken back by that.
            (
                """
                open_until = t.now, reason = said.why, said_by = said.who, is_reset = false, lease_host = said.host,
                lease_ends = t.now + said.lease, lease_for = said.lease
                """, "state = 'open' AND \(isNotLater("since"))", nil
            )
        case .hold(let state, let left):
            (
                """
                hold = '\(state.rawValue)', hold_until = t.now + said.time, hold_for = said.time, hold_by = said.who,
                hold_reason = said.why, op_at = said.at, \(noLease)
                """, "true", left
            )
        case .release:
            // Without a hold, its words are those of the release.
            (
                """
                hold = NULL, hold_until = NULL, hold_for = NULL, hold_by = said.who, hold_reason = said.why,
                op_at = said.at, \(noLease)
                """, "true", nil
            )
        }
    }

    /// Gives the server a register that it has in an older generation, or not at all: with exactly its generation.
    ///
    /// Who has the right to probe is not offered: another generation ends that right in any case.
    func offer(_ register: Register, as name: String) throws(FleetError) -> Outcome {
        guard (1...FleetLimits.readableGeneration).contains(register.generation) else { return .refused }
        let isOpen = register.state == .open
        let left = FleetLimits.duration(register.left)
        let hold = register.hold
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            done AS (
                INSERT INTO fleet.circuit AS c (fleet, name, generation, state, since, open_until, open_for, trips, reason,
                said_by, is_reset, hold, hold_until, hold_for, hold_by, hold_reason, op_at, used)
                SELECT $1, $2, $3::bigint, $5, greatest(0, t.now - $6::bigint), t.now + $7::bigint, $8::bigint, $9::integer,
                $10, $11, $12::boolean, $13, t.now + $14::bigint, $14::bigint, $15, $16,
                coalesce(greatest(0, t.now - $17::bigint), 0), t.now FROM t
                ON CONFLICT (fleet, name) DO UPDATE SET generation = excluded.generation, state = excluded.state,
                since = excluded.since, open_until = excluded.open_until, open_for = excluded.open_for,
                trips = excluded.trips, reason = excluded.reason, said_by = excluded.said_by,
                is_reset = excluded.is_reset, hold = excluded.hold, hold_until = excluded.hold_until,
                hold_for = excluded.hold_for, hold_by = excluded.hold_by, hold_reason = excluded.hold_reason,
                op_at = greatest(c.op_at, excluded.op_at), used = excluded.used, \(Self.noLease),
                changed = pg_current_xact_id()
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
                register.isReset ? "t" : "f", hold?.state.rawValue,
                hold?.left.map { String(FleetLimits.duration($0)) },
                (hold?.by ?? register.release?.by).map { ServerText.cut($0) },
                (hold?.reason ?? register.release?.reason).map { ServerText.cut($0) },
                register.wordAge.map { String(FleetLimits.duration($0)) },
            ])
        return rows.first?.number(0).map { .accepted(generation: $0) } ?? .refused
    }
}
#endif
