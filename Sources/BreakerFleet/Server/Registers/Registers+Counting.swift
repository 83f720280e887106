#if PostgreSQL
import BreakerStore

extension Registers {
    /// A circuit to be counted by the rules of this host's file.
    struct Wanted: Sendable, Hashable {
        var circuit: String
        var counting: LinkedCircuit.Counting?
        var failureRate: LinkedCircuit.Rate?
        var slowRate: LinkedCircuit.Rate?
    }

    /// Counts all hosts' failures and sums of circuits whose registers are closed: within each rule's window, and since
    /// the register closed.
    ///
    /// Call it after `push` has returned: if two hosts push the last two failures at the same time, the host whose push
    /// commits later sees both. A circuit whose register is absent or not closed has no count.
    func count(_ wanted: [Wanted]) throws(FleetError) -> ByName<Count> {
        guard !wanted.isEmpty else { return [:] }
        func windows(_ part: (Wanted) -> Int64?) -> String {
            ServerText.array(wanted.map { part($0).map { FleetLimits.duration($0) } })
        }
        let rows = try self.connection.run(
            """
            WITH \(Self.time),
            w AS MATERIALIZED (
                SELECT c.name, c.generation, n.counts, n.failures, n.failed, n.slow,
                CASE WHEN c.since > t.now + \(Self.slack) THEN 0 ELSE c.since END AS since
                FROM t, unnest($2::text[], $3::boolean[], $4::bigint[], $5::bigint[], $6::bigint[])
                AS n (name, counts, failures, failed, slow)
                JOIN fleet.circuit AS c ON c.fleet = $1 AND c.name = n.name AND c.state = 'closed'
            )
            SELECT w.name, w.generation, f.count, f.hosts, r.calls, r.bad, r.hosts, s.calls, s.bad, s.hosts FROM t, w,
            LATERAL (
                SELECT count(*) AS count, count(DISTINCT file) AS hosts FROM fleet.failure
                WHERE w.counts AND fleet = $1 AND circuit = w.name AND at <= t.now + \(Self.slack)
                AND at >= greatest(w.since, t.now - w.failures)
            ) AS f,
            LATERAL (\(Self.sums("failed"))) AS r,
            LATERAL (\(Self.sums("slow"))) AS s
            """,
            [
                self.fleet, ServerText.array(wanted.map(\.circuit)),
                ServerText.array(wanted.map { $0.counting == nil ? "f" : "t" }), windows { $0.counting?.window },
                windows { $0.failureRate?.window }, windows { $0.slowRate?.window },
            ])
        return rows.reduce(into: ByName()) { counts, row in
            guard let name = row.text(0), let generation = row.number(1) else { return }
            func number(_ column: Int) -> Int64 { min(max(0, row.number(column) ?? 0), FleetLimits.calls) }
            counts[name] = Count(
                generation: generation, failures: number(2), hosts: Int(number(3)),
                failed: LinkedCircuit.Sum(calls: number(4), bad: number(5)), failedHosts: Int(number(6)),
                slow: LinkedCircuit.Sum(calls: number(7), bad: number(8)), slowHosts: Int(number(9)))
        }
    }

    /// The query for the sums over all hosts; without a window they are 0, because a comparison with NULL is not true.
    ///
    /// Only hosts with failed or slow calls count as hosts.
    private static func sums(_ kind: String) -> String {
        """
        SELECT coalesce(sum(\(kind)_calls), 0) AS calls, coalesce(sum(\(kind)_bad), 0) AS bad,
        count(*) FILTER (WHERE \(kind)_bad > 0) AS hosts FROM fleet.rate
        WHERE fleet = $1 AND circuit = w.name AND at <= t.now + \(slack)
        AND at >= w.since AND at >= t.now - w.\(kind)
        """
    }
}
#endif
