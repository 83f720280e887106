#if PostgreSQL
import BreakerStore

extension Registers {
    /// Carries out a request by a compare-and-set, unless the register no longer allows it.
    ///
    /// One statement compares and sets the register. Of two statements that race, the later one waits for the row and
    /// then evaluates its condition again ("Transaction Isolation", Read Committed), so only one is accepted.
    func perform(_ request: Request, on name: String) throws(FleetError) -> Outcome {
        switch request {
        case .trip(let generation, let openFor, let reason):
            return try self.trip(name, generation, openFor, reason)
        case .elect(let generation):
            // The register is due, no other host has the right, and no hold without an end is in force. A timed hold is
            // not compared, since the server's clock may have been set back: each file's own clock ends it, and a host
            // that is held does not ask.
            return try self.change(
                name, at: generation, to: Self.ownLease,
                where: "state = 'open' AND \(Self.isDue) AND \(Self.isLeaseFree) "
                    + "AND NOT (hold_for IS NULL AND \(Self.isHeld))",
                [String(self.lease)])
        case .renew(let generation):
            return try self.change(
                name, at: generation, to: Self.ownLease, where: "state = 'open' AND lease_host = $4",
                [String(self.lease)])
        case .yield(let generation):
            return try self.change(name, at: generation, to: Self.noLease, where: "lease_host = $4", [])
        case .verdict(let generation, let verdict, let isElected):
            return try self.judge(name, generation, verdict, isElected: isElected)
        case .send(let command):
            return try self.send(command, of: name)
        case .offer(let register):
            return try self.offer(register, as: name)
        }
    }

    // MARK: - Conditions

    private static let isDue = isOver("open_until", "open_for")
    /// `$4` is this host in all these conditions.
    private static let isLeaseFree =
        "(lease_host IS NULL OR lease_host = $4 OR \(isOver("lease_ends", "least(lease_for, \(FleetLimits.lease))")))"
    private static let ownLease = "lease_host = $4, lease_ends = fleet.now() + $5::bigint, lease_for = $5::bigint"

    // MARK: - The right to probe

    /// Changes the lease alone: the generation stays, and no other link is notified.
    private func change(
        _ name: String, at generation: Int64, to values: String, where condition: String, _ more: [String]
    )
        throws(FleetError) -> Outcome
    {
        let rows = try self.connection.run(
            """
            UPDATE fleet.circuit SET \(values), changed = pg_current_xact_id()
            WHERE fleet = $1 AND name = $2 AND generation = $3::bigint AND (\(condition))
            RETURNING generation
            """, [self.fleet, name, String(generation), self.host] + more)
        return Self.outcome(rows)
    }

    private static func outcome(_ rows: [ServerRow]) -> Outcome {
        rows.first?.number(0).map { .accepted(generation: $0) } ?? .refused
    }

    // MARK: - Transitions

    /// Opens a closed register, and deletes the failures and sums that led to it, which no longer count.
    private func trip(
        _ name: String, _ generation: Int64, _ openFor: Int64, _ reason: String
    )
        throws(FleetError) -> Outcome
    {
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            done AS (
                UPDATE fleet.circuit SET \(Self.next), state = 'open', since = t.now, open_until = t.now + $5::bigint,
                open_for = $5::bigint, trips = least(trips, \(FleetLimits.trips)) + 1, reason = $6, said_by = NULL,
                \(Self.noLease)\(self.recording("'opened'", host: "$7", reason: "$6"))
                FROM t WHERE fleet = $1 AND name = $2 AND generation = $3::bigint AND state = 'closed'
                RETURNING generation
            ),
            failures AS (DELETE FROM fleet.failure USING done WHERE fleet = $1 AND circuit = $2),
            rates AS (DELETE FROM fleet.rate USING done WHERE fleet = $1 AND circuit = $2)
            SELECT generation, pg_notify('\(FleetSchema.channel)', $4) FROM done
            """,
            [
                self.fleet, name, String(generation), self.payload(for: name), String(FleetLimits.duration(openFor)),
                ServerText.cut(reason), self.host,
            ])
        return Self.outcome(rows)
    }

    /// Ends a probe: the register closes, or opens again.
    private func judge(
        _ name: String, _ generation: Int64, _ verdict: Request.Verdict, isElected: Bool
    )
        throws(FleetError) -> Outcome
    {
        let (openFor, outcome): (Int64?, String) =
            switch verdict {
            case .closed: (nil, "succeeded")
            case .open(for: let duration): (FleetLimits.duration(duration), "failed")
            }
        let event = self.recording(
            "CASE WHEN $6::bigint IS NULL THEN 'closed' ELSE 'reopened' END", host: "$4", reason: "$7")
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            done AS (
                UPDATE fleet.circuit SET \(Self.next), state = CASE WHEN $6::bigint IS NULL THEN 'closed' ELSE 'open' END,
                since = t.now, open_until = t.now + $6::bigint, open_for = $6::bigint,
                trips = CASE WHEN $6::bigint IS NULL THEN 0 ELSE least(trips, \(FleetLimits.trips)) + 1 END, reason = $7,
                said_by = NULL, \(Self.noLease)\(event)
                FROM t WHERE fleet = $1 AND name = $2 AND generation = $3::bigint AND state = 'open'
                AND \(isElected ? "lease_host = $4" : "\(Self.isDue) AND \(Self.isLeaseFree)")
                RETURNING generation
            )
            SELECT generation, pg_notify('\(FleetSchema.channel)', $5) FROM done
            """,
            [
                self.fleet, name, String(generation), self.host, self.payload(for: name), openFor.map { String($0) },
                "a probe of \(self.host) \(outcome)",
            ])
        return Self.outcome(rows)
    }
}
#endif
