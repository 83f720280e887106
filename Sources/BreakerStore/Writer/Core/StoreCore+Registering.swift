import Synchronization

/// Registers circuits, and commits later what could not be committed at once.
extension StoreCore {
    /// Registers circuits with these configs, all in one transaction.
    func register(
        _ configs: [ConfigBox], of circuits: [SharedCircuit], until deadline: Deadline
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        do throws(BreakerStoreError) {
            try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
                for config in configs { try transaction.register(config.config) }
            }
            for (config, circuit) in zip(configs, circuits) { circuit.confirmStored(config.config) }
        } catch {
            for (config, circuit) in zip(configs, circuits) {
                let unstored = SharedCircuit.Unstored(config: config.config, uptime: uptime)
                self.circuits.registrationFailed(unstored, of: circuit, isNew: true)
            }
            throw error
        }
    }

    /// Registers this process's circuits in a database that was opened again, if that has failed so far.
    ///
    /// The file may have been locked or full. Each maintenance pass tries again.
    func registerAgain() {
        guard self.needsRegistration.load(ordering: .relaxed) else { return }
        let configs = self.circuits.inForce
        self.post(
            until: self.writer.deadline, then: { self.needsRegistration.store(false, ordering: .relaxed) },
            { (transaction) throws(BreakerStoreError) in
                try transaction.register(configs.values, isSameDatabase: true)
            })
    }

    /// Records that this process uses a circuit, and returns its stored config; nil if the file has no such circuit.
    func setUsed(of name: String, until deadline: Deadline) throws(BreakerStoreError) -> CircuitBreaker.Config? {
        try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
            guard let row = try transaction.row(of: name) else { return nil }
            try transaction.setUsed(of: name)
            return CircuitBreaker.Config(name: name, row: row)
        }
    }

    /// Records later that this process uses a circuit, which another process has forgotten and created again.
    func setUsedLater(of name: String) {
        self.post(until: self.writer.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.setUsed(of: name)
        }
    }

    /// A config is in force: if it has a failure-rate or slow-call rule, starts to publish counts for that rule.
    func setRules(of config: CircuitBreaker.Config) {
        guard let window = CountingRules(Rules(config)).shortestWindow else { return }
        self.circuits.resetRateCircuits()
        self.countingThread.bell.seats?.add(SeatTable.bit(of: config.name))
        self.publishOften(window)
    }

    /// Commits the notes, configs and reports that could not be committed before.
    func writeOutbox() {
        self.writeNotes()
        self.storeUnstored()
        self.commitReports()
    }

    /// Stores the configs whose registration failed, unless a process has registered a newer config since.
    func storeUnstored() {
        for (circuit, unstored) in self.circuits.drainUnstored() {
            self.post(
                until: self.writer.deadline,
                then: { circuit.confirmStored(unstored.config) },
                // Not a new config: if a newer one could not be registered since, that one is kept.
                orElse: { _ in self.circuits.registrationFailed(unstored, of: circuit, isNew: false) },
                { (transaction) throws(BreakerStoreError) in
                    try transaction.register(
                        unstored.config, unlessConfiguredSince: self.clock.time(of: unstored.uptime))
                }
            )
        }
    }

    /// Commits the reports in the outbox.
    func commitReports() {
        for pending in self.outbox.drainReports() {
            self.post(
                until: self.writer.deadline,
                then: {
                    guard case .failed(let report) = pending.report else { return }
                    pending.circuit.recordOwnFailure(report, inEpoch: report.epoch)
                },
                orElse: { error in
                    // A report that fails because of its row or its values would always fail, so it is dropped.
                    if error.concernsFile || error.code == .busy { self.keepAgain(pending) }
                },
                { (transaction) throws(BreakerStoreError) in
                    let report = pending.report.again(endedAt: self.clock.time(of: pending.uptime))
                    let config = pending.circuit.registeredConfig
                    try transaction.apply(report, to: config.name, registering: config)
                }
            )
        }
    }

    /// Keeps a report again, and counts its failure in the in-memory fallback again.
    ///
    /// The fallback was reset when the file could be used again.
    private func keepAgain(_ pending: PendingReport) {
        self.outbox.keep(pending)
        guard var report = pending.report.failure else { return }
        // A retry: for it the machine ignores an outage, declared by the provider, whose time has passed.
        report.isRetry = true
        let circuit = self.circuits[pending.circuit.key] ?? pending.circuit
        circuit.changeInMemory(at: self.clock.now, offset: self.clock.offset) { circuit, moment, failures in
            report.epoch = circuit.epoch
            _ = circuit.callFailed(report, at: moment, among: failures)
        }
    }

    /// Writes notes about the store to the history; puts them back in the outbox if the commit fails.
    func writeNotes() {
        let notes = self.outbox.drainNotes()
        if notes.isEmpty { return }
        self.post(
            until: self.writer.deadline,
            orElse: { _ in self.outbox.putBack(notes) },
            { (transaction) throws(BreakerStoreError) in
                for note in notes { try transaction.write(note.transition, of: note.circuit, by: nil) }
            }
        )
    }
}
