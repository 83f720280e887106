#if PostgreSQL
import BreakerStore

extension Registers {
    /// A row of the mirror of failures.
    struct Failure: Sendable, Hashable {
        var circuit: String
        var failure: LinkedCircuit.Failure
    }

    /// The key of a row of that mirror, whose failure the file no longer has.
    struct Gone: Sendable, Hashable {
        var circuit: String
        var key: LinkedCircuit.Key
    }

    /// The calls of this host within the windows of a circuit's rules.
    struct Sums: Sendable, Hashable {
        var circuit: String
        var failed: LinkedCircuit.Sum?
        var slow: LinkedCircuit.Sum?
    }

    /// The most rows in one statement, so that each statement of a large push ends in time.
    private static let maxRows = 5_000

    /// Deletes all rows that this host has pushed before, even under another name or from another file.
    ///
    /// An earlier connection may have pushed rows that the file no longer has. Does nothing unless this link has the
    /// host's name: otherwise another file's link would delete the rows of the host's own file.
    func forgetPushed(by link: Link) throws(FleetError) {
        let own = "l.fleet = $1 AND l.host = $2 AND l.session = $3::bigint"
        for table in ["failure", "rate"] {
            try self.connection.run(
                """
                DELETE FROM fleet.\(table) AS told USING fleet.link AS l
                WHERE told.fleet = $1 AND (told.host = $2 OR told.file = l.file) AND \(own)
                """,
                [self.fleet, self.host, String(link.session)])
        }
        // Deletes the name that this file, or the previous file at this place, had until now.
        try self.connection.run(
            """
            DELETE FROM fleet.link AS old USING fleet.link AS l
            WHERE old.fleet = $1 AND old.host <> $2 AND (old.file = l.file OR old.place = l.place) AND \(own)
            """,
            [self.fleet, self.host, String(link.session)])
    }

    /// Adds the failures that are new in this host's file, and deletes those that the file no longer has.
    ///
    /// A failure that is pushed twice counts once. Its stamp is the server's time minus its age.
    func push(new: [Failure], gone: [Gone] = [], of file: String) throws(FleetError) {
        let newKeys = Set(new.map { Gone(circuit: $0.circuit, key: $0.failure.key) })
        let gone = gone.filter { !newKeys.contains($0) }
        var start = 0
        while start < max(new.count, gone.count) {
            try self.push(
                new.dropFirst(start).prefix(Self.maxRows), gone: gone.dropFirst(start).prefix(Self.maxRows), of: file)
            start += Self.maxRows
        }
    }

    private func push(_ new: ArraySlice<Failure>, gone: ArraySlice<Gone>, of file: String) throws(FleetError) {
        try self.connection.run(
            """
            WITH \(Self.time),
            gone AS (
                DELETE FROM fleet.failure AS f USING unnest($3::text[], $4::bigint[], $5::bigint[]) AS g (circuit, worker, number)
                WHERE f.fleet = $1 AND f.file = $10 AND f.circuit = g.circuit AND f.worker = g.worker AND f.number = g.number
            )
            INSERT INTO fleet.failure (fleet, host, file, circuit, worker, number, at)
            SELECT $1, $2, $10, n.circuit, n.worker, n.number, greatest(0, t.now - n.age)
            FROM t, unnest($6::text[], $7::bigint[], $8::bigint[], $9::bigint[]) AS n (circuit, worker, number, age)
            ON CONFLICT DO NOTHING
            """,
            [
                self.fleet, self.host, ServerText.array(gone.map(\.circuit)),
                ServerText.array(gone.map(\.key.worker.rawValue)),
                ServerText.array(gone.map(\.key.number)), ServerText.array(new.map(\.circuit)),
                ServerText.array(new.map(\.failure.key.worker.rawValue)),
                ServerText.array(new.map(\.failure.key.number)),
                ServerText.array(new.map { FleetLimits.duration($0.failure.age) }), file,
            ])
    }

    /// Replaces the sums that this host has pushed before.
    func push(sums: [Sums], of file: String) throws(FleetError) {
        guard !sums.isEmpty else { return }
        func numbers(_ part: (Sums) -> Int64?) -> String {
            ServerText.array(sums.map { min(max(0, part($0) ?? 0), FleetLimits.calls) })
        }
        try self.connection.run(
            """
            WITH \(Self.time)
            INSERT INTO fleet.rate AS r (fleet, host, file, circuit, failed_calls, failed_bad, slow_calls, slow_bad, at)
            SELECT DISTINCT ON (n.circuit) $1, $2, $8, n.circuit, n.failed_calls, n.failed_bad, n.slow_calls, n.slow_bad, t.now
            FROM t, unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
            AS n (circuit, failed_calls, failed_bad, slow_calls, slow_bad)
            ON CONFLICT (fleet, circuit, file) DO UPDATE SET host = excluded.host, failed_calls = excluded.failed_calls,
            failed_bad = excluded.failed_bad, slow_calls = excluded.slow_calls, slow_bad = excluded.slow_bad,
            at = excluded.at
            """,
            [
                self.fleet, self.host, ServerText.array(sums.map(\.circuit)), numbers { $0.failed?.calls },
                numbers { $0.failed?.bad }, numbers { $0.slow?.calls }, numbers { $0.slow?.bad }, file,
            ])
    }
}
#endif
