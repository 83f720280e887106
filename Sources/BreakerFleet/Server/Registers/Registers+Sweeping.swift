#if PostgreSQL

extension Registers {
    private static let day: Int64 = 86_400_000_000

    /// Says that this host has these circuits, and deletes what nobody needs any more; for a link that is there, about
    /// once an hour.
    ///
    /// - Links that were not seen for a day.
    /// - Failures and sums older than the longest window of this host's rules, and than a day: other hosts may have
    ///   longer windows. A host that is there deletes its own failures by itself, so these are of hosts that went.
    /// - Registers that no host has had for `forgetIdleAfter`; none where that is nil.
    func sweep(having names: Names, longestWindow: Int64, forgetIdleAfter: Int64?) throws(FleetError) {
        try self.connection.run(
            """
            WITH \(Self.time)
            UPDATE fleet.circuit SET used = t.now FROM t
            WHERE fleet = $1 AND name = ANY ($2::text[]) AND abs(t.now - used) > 60000000
            """, [self.fleet, ServerText.array(names.sorted())])
        let window = max(FleetLimits.duration(longestWindow), Self.day)
        for (table, stamp, age) in [
            ("link", "beat", Self.day), ("failure", "at", window), ("rate", "at", window),
        ] {
            try self.delete(from: table, where: "\(stamp) < t.now - $2::bigint", [String(age)])
        }
        guard let forgetIdleAfter else { return }
        try self.delete(
            from: "circuit", where: "used < t.now - $2::bigint AND NOT name = ANY ($3::text[])",
            [String(FleetLimits.duration(forgetIdleAfter)), ServerText.array(names.sorted())])
    }

    /// Deletes some of the rows that are too old: so many that a statement does not take long.
    ///
    /// The next sweep goes on.
    private func delete(from table: String, where condition: String, _ parameters: [String]) throws(FleetError) {
        try self.connection.run(
            """
            WITH \(Self.time)
            DELETE FROM fleet.\(table) USING t WHERE fleet = $1 AND \(condition) AND ctid = ANY (ARRAY(
                SELECT old.ctid FROM t, fleet.\(table) AS old WHERE fleet = $1 AND \(condition) LIMIT 10000))
            """, [self.fleet] + parameters)
    }
}
#endif
