extension Transaction {
    /// Creates the circuit, or saves the differences of its config; changes neither state nor counts.
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
            id: 0, incarnation: self.newIncarnation(), group: config.group, registered: self.now.microseconds,
            circuit: circuit)
        try self.noteWorker(uses: self.database.insert(row, named: config.name))
    }

    /// Registers a config that could not be saved at `time`, unless another process has registered a config since.
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

    /// Registers the circuits of a process that has opened the file again.
    ///
    /// - Parameter isSameDatabase: whether the same database was open before. There, others may have registered newer
    ///   configs by now, or forgotten circuits. So this process writes only its use of circuits that still exist.
    func register(
        _ configs: some Sequence<CircuitBreaker.Config>, isSameDatabase: Bool
    ) throws(BreakerStoreError) {
        for config in configs {
            if isSameDatabase { try self.noteUse(of: config.name) } else { try self.register(config) }
        }
    }

    /// Whether a process has created the circuit, or registered another config for it, after `time`.
    private func isConfigured(
        _ circuit: Circuit,
        _ name: String,
        since time: StoreTime
    ) throws(BreakerStoreError) -> Bool {
        // An event of a row that was healed has no state before, and is no registration.
        let newest = try self.database.first(
            "SELECT max(at) FROM event WHERE circuit = ?1 AND kind = 'configured' AND was IS NOT NULL", .text(name)
        ) { $0.optionalInteger(0) }
        if let newest = newest ?? nil { return newest > time.microseconds }
        // Creation writes no event. But a circuit without events of other kinds has been closed since its creation:
        // then its `since` is the time of its creation.
        let events = try self.database.first(
            "SELECT count(*) FROM event WHERE circuit = ?1 AND kind <> 'configured'", .text(name)
        ) { $0.integer(0) }
        return events == 0 && circuit.since > time
    }

    /// Notes that this worker uses the circuit, if the file has it.
    func noteUse(of name: String) throws(BreakerStoreError) {
        if let row = try self.row(of: name) { try self.note(row.id) }
    }

    private func update(
        _ row: CircuitRow,
        _ config: CircuitBreaker.Config,
        _ rules: Rules
    ) throws(BreakerStoreError) {
        guard row.circuit.state.isKnown else { return }
        var rules = rules
        let change: String
        switch row.circuit.rules.stored {
        case .ofLaterRelease(_, let why): return try self.noteOwnRules(of: row, config.name, why)
        case .unreadable(let text, let why):
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

    /// Adds an event that this release can't use a circuit's stored rules, unless the newest such event says so.
    private func noteOwnRules(of row: CircuitRow, _ name: String, _ why: String) throws(BreakerStoreError) {
        let reason = "workers of earlier releases use their own rules: a later release has registered \(why)"
        let newest = try self.database.first(
            "SELECT reason FROM event WHERE circuit = ?1 AND kind = 'configured' ORDER BY id DESC LIMIT 1", .text(name)
        ) { $0.optionalText(0) }
        guard newest != reason else { return }
        let word = row.circuit.word
        try self.write(Transition(kind: .configured, from: word, to: word, reason: reason), of: name, by: nil)
    }

    /// Notes that this worker uses the circuit.
    private func note(_ circuit: Int64) throws(BreakerStoreError) {
        try self.noteWorker(uses: circuit)
        try self.database.run(
            // A later version's row may not pass the checks of this version's table.
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id = ?1",
            .integer(circuit), .integer(self.now.microseconds)
        )
    }

    private func noteWorker(uses circuit: Int64) throws(BreakerStoreError) {
        self.registered()
        try self.database.run(
            "INSERT OR IGNORE INTO registration (worker, circuit) VALUES (?1, ?2)",
            .integer(self.worker.id), .integer(circuit)
        )
    }
}
