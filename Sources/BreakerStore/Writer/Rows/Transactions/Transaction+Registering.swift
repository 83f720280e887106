/// Registers circuits: writes their configs, and records which worker uses which circuit.
extension Transaction {
    /// Creates the circuit, or saves the differences of its config; changes neither state nor counts.
    ///
    /// The config must be valid.
    func register(_ config: CircuitBreaker.Config) throws(BreakerStoreError) {
        let rules = Rules(config)
        if let row = try self.row(of: config.name) {
            try self.update(row, config, rules)
            return try self.recordUse(of: row.id)
        }
        let circuit = Circuit(rules: rules, at: self.now, epochFloor: self.epochFloor)
        var row = CircuitRow(
            id: 0, incarnation: self.newIncarnation(), group: config.group, lastUsed: self.now.microseconds,
            circuit: circuit)
        // Nothing has counted calls of this incarnation.
        row.countsAtGenerationStart = CircuitRow.FailedAndRefused(failed: 0, refused: 0)
        try self.insertRegistration(of: self.database.insert(row, named: config.name))
    }

    /// Registers a config that could not be saved at `time`, unless another process has registered one since.
    func register(
        _ config: CircuitBreaker.Config,
        unlessConfiguredSince time: StoreTime
    ) throws(BreakerStoreError) {
        guard let circuit = try self.circuit(config.name), try self.isConfigured(circuit, config.name, since: time)
        else {
            return try self.register(config)
        }
        try self.setUsed(of: config.name)
    }

    /// Registers the circuits of a process that has opened the file again.
    ///
    /// - Parameter isSameDatabase: whether the same database was open before. If so, other processes may have
    ///   registered newer configs or forgotten circuits since, so this process records only which of the circuits that
    ///   exist it uses.
    func register(
        _ configs: some Sequence<CircuitBreaker.Config>, isSameDatabase: Bool
    ) throws(BreakerStoreError) {
        for config in configs {
            if isSameDatabase { try self.setUsed(of: config.name) } else { try self.register(config) }
        }
    }

    /// Whether a process has created the circuit, or registered another config for it, after `time`; by its events.
    private func isConfigured(
        _ circuit: Circuit,
        _ name: String,
        since time: StoreTime
    ) throws(BreakerStoreError) -> Bool {
        // The event of a row that was repaired has no state before, and is no registration.
        let newest = try self.database.first(
            "SELECT max(at) FROM event WHERE circuit = ?1 AND kind = 'configured' AND was IS NOT NULL", .text(name)
        ) { $0.optionalInteger(0) }
        if let newest = newest ?? nil { return newest > time.microseconds }
        // A creation writes no event. But a circuit without events of other kinds has been closed since its creation,
        // and then `since` is the time of its creation.
        let events = try self.database.first(
            "SELECT count(*) FROM event WHERE circuit = ?1 AND kind <> 'configured'", .text(name)
        ) { $0.integer(0) }
        return events == 0 && circuit.since > time
    }

    /// Records that this worker uses the circuit, if the file has it.
    func setUsed(of name: String) throws(BreakerStoreError) {
        if let row = try self.row(of: name) { try self.recordUse(of: row.id) }
    }

    /// Saves a config over the stored one, with an event that lists the differences.
    private func update(
        _ row: CircuitRow,
        _ config: CircuitBreaker.Config,
        _ rules: Rules
    ) throws(BreakerStoreError) {
        // The row of a later release stays as it is.
        guard row.circuit.state.isKnown else { return }
        var rules = rules
        let change: String
        switch row.circuit.rules.stored {
        case .ofLaterRelease(_, let why): return try self.recordUnusableRules(of: row, config.name, why)
        case .unreadable(let text, let why):
            // Members that this release does not know stay in the new text.
            rules.stored = .more(text)
            change = "the stored rules could not be read (\(why)), and were replaced"
        case .asRules, .more:
            let stored = CircuitBreaker.Config(name: config.name, group: row.group, rules: row.circuit.rules)
            guard stored != config else { return }
            rules.stored = row.circuit.rules.stored
            change = config.changes(from: stored)
        }
        _ = try self.change(config.name) { circuit, _, _ in circuit.configured(rules, change: change) }
        try self.regroup(config.name, config.group)
    }

    /// Records that this release can't use a circuit's stored rules, unless the newest event already does.
    private func recordUnusableRules(of row: CircuitRow, _ name: String, _ why: String) throws(BreakerStoreError) {
        let reason = "workers of earlier releases use their own rules: a later release has registered \(why)"
        let newest = try self.database.first(
            "SELECT reason FROM event WHERE circuit = ?1 AND kind = 'configured' ORDER BY id DESC LIMIT 1", .text(name)
        ) { $0.optionalText(0) }
        guard newest != reason else { return }
        let state = row.circuit.word
        try self.write(Transition(kind: .configured, from: state, to: state, reason: reason), of: name, by: nil)
    }

    /// Records that this worker uses the circuit, and when.
    private func recordUse(of circuit: Int64) throws(BreakerStoreError) {
        try self.insertRegistration(of: circuit)
        try self.database.run(
            // A later version's row may not pass the checks of this version's table.
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id = ?1",
            .integer(circuit), .integer(self.now.microseconds)
        )
    }

    private func insertRegistration(of circuit: Int64) throws(BreakerStoreError) {
        self.setHasRegistrations()
        try self.database.run(
            "INSERT OR IGNORE INTO registration (worker, circuit) VALUES (?1, ?2)",
            SQLValue(self.worker.id), .integer(circuit)
        )
    }
}
