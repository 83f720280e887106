/// Writes, deletes and reads the rows of a circuit.
extension Database {
    /// Inserts a circuit's row, and returns its row id.
    ///
    /// - Parameter id: the row id; SQLite chooses one if nil.
    func insert(_ row: CircuitRow, named name: String, id: Int64? = nil) throws(BreakerStoreError) -> Int64 {
        let rules = self.storedRules.text(of: row.circuit.rules)
        try self.run(CircuitColumn.insert, CircuitColumn.inserted(row, named: name, id: id, rules: rules))
        return self.connection.lastInsertedRow
    }

    /// Deletes a circuit's row, and all rows that belong to it.
    func deleteCircuit(_ id: Int64, by deletions: [SQL] = StoreTable.ofCircuit) throws(BreakerStoreError) {
        // SQLite reads the whole key of a row to find it in an index, and the key may be longer than other statements
        // allow.
        try self.connection.withLongTexts { () throws(BreakerStoreError) in
            for sql in deletions { try self.run(sql, .integer(id)) }
        }
    }

    /// The failures, oldest first; only the newest if the table has more than the circuit's rules keep.
    ///
    /// Another program may have written millions of rows.
    func failures(of row: CircuitRow, atMost max: Int64) throws(BreakerStoreError) -> [Circuit.Failure] {
        try self.all(
            """
            SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
            ORDER BY at DESC, worker DESC, sequence DESC LIMIT ?3
            """,
            .integer(row.id), .integer(row.failures.since?.microseconds ?? .min),
            .integer(min(max, Self.maxFailures(under: row.circuit.rules))), read: Circuit.Failure.init
        ).reversed()
    }

    /// How many rows are read at most; after a threshold was lowered, the table has more until the next failure.
    static func maxFailures(under rules: Rules) -> Int64 {
        Self.maxRows(rules.threshold) + Self.maxRows(rules.minimumReporters)
    }

    /// A limit for rows of which a rule keeps `count`; a rule in the file may have any number.
    private static func maxRows(_ count: Int) -> Int64 { Int64(min(max(count, 0), 1_000_000)) + 1_000 }

    func probes(of row: CircuitRow) throws(BreakerStoreError) -> [Circuit.Probe] {
        try self.all(
            "SELECT token, worker, since, lease_ends, worker_name, pid FROM probe WHERE circuit = ?1 LIMIT ?2",
            .integer(row.id), .integer(Self.maxRows(row.circuit.probeLimit))
        ) {
            let (name, pid) = ($0.optionalText(4), $0.optionalInteger(5))
            return Circuit.Probe(
                token: $0.integer(0),
                worker: $0.worker(1),
                since: StoreTime(microseconds: $0.integer(2)),
                leaseEnds: StoreTime(microseconds: $0.integer(3)),
                prober: name.map { Circuit.Prober(name: $0, pid: Int32(truncatingIfNeeded: pid ?? 0)) }
            )
        }
    }

    /// Saves the differences between the probes and those that the table has.
    func saveProbes(
        _ probes: [Circuit.Probe],
        over before: [Circuit.Probe],
        of circuit: Int64
    ) throws(BreakerStoreError) {
        guard probes != before else { return }
        if probes.isEmpty {
            try self.run("DELETE FROM probe WHERE circuit = ?1", .integer(circuit))
            return
        }
        // Sets: a rule may allow thousands of probes at a time.
        let (old, new) = (Set(before), Set(probes))
        for probe in before where !new.contains(probe) {
            try self.run(
                "DELETE FROM probe WHERE circuit = ?1 AND token = ?2",
                .integer(circuit), .integer(probe.token)
            )
        }
        for probe in probes where !old.contains(probe) {
            try self.run(
                """
                INSERT INTO probe (circuit, token, worker, since, lease_ends, worker_name, pid)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """,
                .integer(circuit), .integer(probe.token), SQLValue(probe.worker),
                .integer(probe.since.microseconds), .integer(probe.leaseEnds.microseconds),
                SQLValue(probe.prober?.name), SQLValue(probe.prober.map { Int64($0.pid) })
            )
        }
    }
}
