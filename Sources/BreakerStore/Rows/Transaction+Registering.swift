/// Registering circuits.
extension Transaction {
    /// Creates the circuit, or stores what differs in its config; neither state nor counts change.
    ///
    /// The config must be valid.
    func register(_ config: CircuitBreaker.Config) throws(BreakerStoreError) {
        let rules = Rules(config)
        if let row = try self.row(of: config.name) {
            try self.update(row, config, rules)
            return try self.note(row.id)
        }
        let circuit = Circuit(rules: rules, at: self.now, epochFloor: self.epochFloor)
        let row = CircuitRow(
            id: 0, label: config.group, refusals: 0, registered: self.now.microseconds, circuit: circuit)
        try self.noteWorker(uses: self.database.insert(row, named: config.name))
    }

    /// Registers a config that could not be stored at the time of its registration; a config that another process has
    /// registered since then is newer, and stays.
    func register(
        _ config: CircuitBreaker.Config,
        unlessConfiguredSince time: StoreTime
    ) throws(BreakerStoreError) {
        guard let circuit = try self.circuit(config.name), try self.isConfigured(circuit, config.name, since: time)
        else {
            return try self.register(config)
        }
        try self.noteUse(of: config.name)
    }

    /// Whether somebody has registered a circuit, or another config for it, after `time`.
    private func isConfigured(
        _ circuit: Circuit,
        _ name: String,
        since time: StoreTime
    ) throws(BreakerStoreError) -> Bool {
        // The event of a row that was made anew says nothing of the state before, and is no registration.
        let newest = try self.database.first(
            "SELECT max(at) FROM event WHERE circuit = ?1 AND kind = 'configured' AND was IS NOT NULL", .text(name)
        ) { $0.optionalInteger(0) }
        if let newest = newest ?? nil { return newest > time.microseconds }
        // Creating a circuit writes no event. A circuit without events has been closed since its creation.
        let events = try self.database.first(
            "SELECT count(*) FROM event WHERE circuit = ?1 AND kind <> 'configured'", .text(name)
        ) { $0.integer(0) }
        return events == 0 && circuit.since > time
    }

    /// Notes that this worker uses the circuit, if it is there.
    func noteUse(of name: String) throws(BreakerStoreError) {
        if let row = try self.row(of: name) { try self.note(row.id) }
    }

    private func update(
        _ row: CircuitRow,
        _ config: CircuitBreaker.Config,
        _ rules: Rules
    ) throws(BreakerStoreError) {
        guard row.circuit.state.isKnown else { return }
        let stored = CircuitBreaker.Config(name: config.name, group: row.label, rules: row.circuit.rules)
        guard stored != config else { return }
        _ = try self.change(config.name) { circuit, _, _ in
            circuit.configured(rules, change: config.changes(from: stored))
        }
        try self.relabel(config.name, config.group)
    }

    /// Notes that this worker uses the circuit.
    private func note(_ circuit: Int64) throws(BreakerStoreError) {
        try self.noteWorker(uses: circuit)
        try self.database.run(
            // A row that a later version has written may not pass the checks of this one's table.
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id = ?1",
            .integer(circuit), .integer(self.now.microseconds)
        )
    }

    private func noteWorker(uses circuit: Int64) throws(BreakerStoreError) {
        try self.database.run(
            "INSERT OR IGNORE INTO registration (worker, circuit) VALUES (?1, ?2)",
            .integer(self.worker.id), .integer(circuit)
        )
    }

    /// Deletes a circuit and what belongs to it; false if there is none of this name.
    func forget(
        _ name: String,
        by operator: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) -> Bool {
        let id = try self.database.first("SELECT id FROM circuit WHERE name = ?1", .text(name)) { $0.integer(0) }
        guard let id else { return false }
        return try self.forget(id, name: name, by: `operator`, reason: reason)
    }

    /// Deletes a circuit by its row's number, since its name may be no UTF-8; false if there is none.
    func forget(
        _ id: Int64,
        name: String,
        by operator: String?,
        reason: String?
    ) throws(BreakerStoreError) -> Bool {
        let stored = try self.database.first("SELECT epoch FROM circuit WHERE id = ?1", .integer(id)) { $0.integer(0) }
        guard let stored else { return false }
        // The caller may want to forget the circuit because the row can't be read.
        let circuit = try? self.circuit(name)
        let epoch = max(stored, circuit?.epoch ?? stored)
        self.unload(name)
        try self.database.deleteCircuit(id)
        // A new circuit of this name starts at a higher epoch, so that a late result for the old circuit changes
        // nothing.
        try self.raiseEpochFloor(to: epoch.addingSaturating(1))
        try self.write(Transition(kind: .forgotten, from: circuit?.word, reason: reason), of: name, by: `operator`)
        return true
    }

    /// Forgets the closed, unheld circuits that no live worker has registered since `time`.
    func forgetIdle(since time: StoreTime) throws(BreakerStoreError) {
        for worker in try self.database.workers() where !self.isAlive(worker.worker.id) {
            try self.database.removeWorker(worker.worker.id, at: self.now)
        }
        let idle = try self.database.all(
            """
            SELECT name FROM circuit WHERE state = 'closed' AND hold IS NULL AND max(since, registered) <= ?1
            AND NOT EXISTS (SELECT 1 FROM registration WHERE registration.circuit = circuit.id) LIMIT 10000
            """,
            .integer(time.microseconds)
        ) { $0.text(0) }
        for name in idle { _ = try self.forget(name, reason: "nobody uses it") }
    }
}
