import Synchronization

/// Registers circuits, and writes later what could not be committed at once.
extension StoreCore {
    /// Registers circuits with these configs, all in one transaction.
    func register(
        _ configs: [KeptConfig], of circuits: [SharedCircuit], until deadline: Deadline
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        do throws(BreakerStoreError) {
            try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
                for config in configs { try transaction.register(config.config) }
            }
            for (config, circuit) in zip(configs, circuits) { circuit.noteStored(config.config) }
        } catch {
            for (config, circuit) in zip(configs, circuits) {
                let one = SharedCircuit.Unstored(config: config.config, uptime: uptime)
                self.circuits.registrationFailed(one, of: circuit, isNew: true)
            }
            throw error
        }
    }

    /// Registers this process's circuits in the database that was opened again, if that could not be done then.
    ///
    /// The file may have been locked or full. Each look-around tries again.
    func registerAgain() {
        guard self.isToRegister.load(ordering: .relaxed) else { return }
        let configs = self.circuits.inForce
        self.post(
            until: self.writer.deadline, then: { self.isToRegister.store(false, ordering: .relaxed) },
            { (transaction) throws(BreakerStoreError) in
                try transaction.register(configs.values, isSameDatabase: true)
            })
    }

    /// Notes that this process uses a circuit, and returns its stored config; nil if the file has no such circuit.
    func noteUse(of name: String, until deadline: Deadline) throws(BreakerStoreError) -> CircuitBreaker.Config? {
        try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
            guard let row = try transaction.row(of: name) else { return nil }
            try transaction.noteUse(of: name)
            return CircuitBreaker.Config(name: name, row: row)
        }
    }

    /// Notes later that this process uses a circuit, which another process has forgotten and created again.
    func noteUseLater(of name: String) {
        self.post(until: self.writer.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.noteUse(of: name)
        }
    }

    /// Notes that a config is in force, with a rule about a share that may be new or changed.
    func noteRules(of config: CircuitBreaker.Config) {
        guard let window = CountingRules(Rules(config)).shortestWindow else { return }
        self.circuits.forgetSharing()
        self.countingThread.bell.seats?.add(SeatTable.bit(of: config.name))
        self.publishOften(window)
    }

    /// Writes the notes, configs and reports that were kept for the file.
    func writeOutbox() {
        self.writeNotes()
        self.storeUnstored()
        self.commitReports()
    }

    /// Stores the configs whose registration failed, unless a process has registered a newer config meanwhile.
    func storeUnstored() {
        for (circuit, one) in self.circuits.takeUnstored() {
            self.post(
                until: self.writer.deadline,
                then: { circuit.noteStored(one.config) },
                orElse: { _ in self.circuits.registrationFailed(one, of: circuit, isNew: false) },
                { (transaction) throws(BreakerStoreError) in
                    try transaction.register(one.config, unlessConfiguredSince: self.clock.time(of: one.uptime))
                }
            )
        }
    }

    /// Commits the reports that were kept.
    func commitReports() {
        for kept in self.outbox.takeReports() {
            self.post(
                until: self.writer.deadline,
                then: {
                    if case .failed(let report) = kept.report { kept.circuit.noteOwn(report, inEpoch: report.epoch) }
                },
                orElse: { error in
                    // A report that fails because of its row or its values would fail each time, so it is dropped.
                    if error.isOfTheFile || error.code == .busy { self.keepAgain(kept) }
                },
                { (transaction) throws(BreakerStoreError) in
                    let report = kept.report.again(endedAt: self.clock.time(of: kept.uptime))
                    let config = kept.circuit.registeredConfig
                    try transaction.apply(report, to: config.name, registering: config)
                }
            )
        }
    }

    /// Keeps a report again, and counts its failure again in memory, which forgot the failure when the file came back.
    private func keepAgain(_ kept: KeptReport) {
        self.outbox.keep(kept)
        guard var report = kept.report.failure else { return }
        // With `mayBeKnown` the machine ignores a service's outage whose time has passed.
        report.mayBeKnown = true
        let circuit = self.circuits[kept.circuit.key] ?? kept.circuit
        circuit.changeInMemory(at: self.clock.now, offset: self.clock.offset) { circuit, moment, failures in
            report.epoch = circuit.epoch
            _ = circuit.callFailed(report, at: moment, among: failures)
        }
    }

    /// Writes notes on the store itself to the history, or keeps them if the commit fails.
    func writeNotes() {
        let notes = self.outbox.takeNotes()
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
