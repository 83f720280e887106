#if PostgreSQL

extension Registers {
    private static let day: Int64 = 86_400_000_000

    /// Marks this host's circuits as used, and deletes rows that no host needs; for a joined link, about once an hour.
    ///
    /// - Failures and sums that are older than a day and than this host's longest window. Other hosts may have longer
    ///   windows; but a joined host deletes its own failures, so these rows are of hosts that are gone.
    /// - Registers that no host has had for `forgetIdleAfter`; none if that is nil.
    ///
    /// The rows of links stay, until an operator forgets the host.
    func sweep(having names: Names, longestWindow: Int64, forgetIdleAfter: Int64?) throws(FleetError) {
        try self.connection.run(
            """
            WITH \(Self.time)
            UPDATE fleet.circuit SET used = t.now FROM t
            WHERE fleet = $1 AND name = ANY ($2::text[]) AND abs(t.now - used) > 60000000
            """, [self.fleet, ServerText.array(names.sorted())])
        let window = max(FleetLimits.duration(longestWindow), Self.day)
        for table in ["failure", "rate"] {
            try self.delete(from: table, where: "at < t.now - $2::bigint", [String(window)])
        }
        guard let forgetIdleAfter else { return }
        try self.delete(
            from: "circuit", where: "used < t.now - $2::bigint AND NOT name = ANY ($3::text[])",
            [String(FleetLimits.duration(forgetIdleAfter)), ServerText.array(names.sorted())])
    }

    /// Deletes as many rows that are too old as one short statement can; the next sweep continues.
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
