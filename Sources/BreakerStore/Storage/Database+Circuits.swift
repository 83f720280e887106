/// The rows that belong to a circuit.
extension Database {
    func failures(of circuit: Int64) throws(BreakerStoreError) -> [Circuit.Failure] {
        try self.all(
            "SELECT at, worker, sequence FROM failure WHERE circuit = ?1 ORDER BY at",
            .integer(circuit)
        ) {
            Circuit.Failure(
                at: StoreTime(microseconds: $0.integer(0)),
                worker: $0.integer(1),
                sequence: $0.integer(2)
            )
        }
    }

    func probes(of circuit: Int64) throws(BreakerStoreError) -> [Circuit.Probe] {
        try self.all(
            "SELECT token, worker, since, lease_ends FROM probe WHERE circuit = ?1",
            .integer(circuit)
        ) {
            Circuit.Probe(
                token: $0.integer(0),
                worker: $0.integer(1),
                since: StoreTime(microseconds: $0.integer(2)),
                leaseEnds: StoreTime(microseconds: $0.integer(3))
            )
        }
    }

    func saveFailures(
        _ failures: [Circuit.Failure],
        over before: [Circuit.Failure],
        of circuit: Int64
    ) throws(BreakerStoreError) {
        guard failures != before else { return }
        if failures.isEmpty {
            try self.run("DELETE FROM failure WHERE circuit = ?1", .integer(circuit))
            return
        }
        // Old ones go at the front, new ones come at the end; a set is only for what lies between.
        let kept = Set(failures)
        let known = Set(before)
        for failure in before where !kept.contains(failure) {
            try self.run(
                "DELETE FROM failure WHERE circuit = ?1 AND at = ?2 AND worker = ?3 AND sequence = ?4",
                .integer(circuit), .integer(failure.at.microseconds), .integer(failure.worker),
                .integer(failure.sequence)
            )
        }
        for failure in failures where !known.contains(failure) {
            try self.run(
                "INSERT OR IGNORE INTO failure (circuit, at, worker, sequence) VALUES (?1, ?2, ?3, ?4)",
                .integer(circuit), .integer(failure.at.microseconds), .integer(failure.worker),
                .integer(failure.sequence)
            )
        }
    }

    func saveProbes(
        _ probes: [Circuit.Probe],
        over before: [Circuit.Probe],
        of circuit: Int64
    ) throws(BreakerStoreError) {
        guard probes != before else { return }
        for probe in before where !probes.contains(probe) {
            try self.run(
                "DELETE FROM probe WHERE circuit = ?1 AND token = ?2",
                .integer(circuit), .integer(probe.token)
            )
        }
        for probe in probes where !before.contains(probe) {
            try self.run(
                "INSERT INTO probe (circuit, token, worker, since, lease_ends) VALUES (?1, ?2, ?3, ?4, ?5)",
                .integer(circuit), .integer(probe.token), .integer(probe.worker),
                .integer(probe.since.microseconds), .integer(probe.leaseEnds.microseconds)
            )
        }
    }
}
