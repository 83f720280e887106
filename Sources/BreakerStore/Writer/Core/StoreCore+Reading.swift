/// Reads of the file: decisions for calls, rows, and long reads.
extension StoreCore {
    /// Reads the decision for a call, and caches it for the next calls; nil if there is no circuit of this name.
    ///
    /// Reads for some microseconds, and waits for no writer; `waitingForRecovery` says when the read takes longer.
    func readDecision(_ context: ReadContext) throws(BreakerStoreError) -> CallDecision? {
        try self.requireOwnProcess()
        var found = self.findThroughWriter(context)
        if found == nil {
            found = try self.read { (database) throws(BreakerStoreError) in
                try self.answers.find(context, through: database)
            }
        }
        guard let found else { return nil }
        let (decision, changes) = self.answers.answer(found, to: context)
        if let config = changes.newConfig { self.setRules(of: config) }
        if changes.isAnotherCircuit { self.setUsedLater(of: context.circuit.name) }
        return decision
    }

    /// Reads through the connection that writes, if no thread leads.
    ///
    /// That connection still has the pages that this process wrote last in its cache. The connection that reads would
    /// have to read these pages again after each commit.
    private func findThroughWriter(_ context: ReadContext) -> Answers.Found? {
        guard self.update({ $0.acquireLeadForRead() }) else { return nil }
        defer { self.apply { $0.leadEnded() } }
        guard let writer = self.writer.opened?.writer else { return nil }
        // An error is dropped here: the read through the other connection meets the error again, and handles it.
        return (try? self.answers.find(context, through: writer)) ?? nil
    }

    /// The circuit with its failures and probes; nil if there is no circuit of this name.
    func circuit(_ name: String) throws(BreakerStoreError) -> StoredCircuit? {
        try self.readSnapshot { (database) throws(BreakerStoreError) in try database.circuit(named: name) }
    }

    /// The circuit's row with its probes; nil if there is no circuit of this name.
    ///
    /// Leaves out its failures, of which there may be a million.
    func row(of name: String) throws(BreakerStoreError) -> CircuitRow? {
        try self.readSnapshot { (database) throws(BreakerStoreError) in try database.circuitRow(named: name) }
    }

    /// Reads a snapshot, and adopts the file's clock offset.
    private func readSnapshot<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        let (clock, value) = try self.read { (database) throws(BreakerStoreError) in
            try database.snapshot { () throws(BreakerStoreError) in (try ClockRow.read(database), try body(database)) }
        }
        self.clock.follow(clock)
        return value
    }

    /// Runs `body` with the connection that reads.
    func read<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try self.waitingForRecovery { () throws(BreakerStoreError) in
            guard let value = try self.answers.read(body) else { throw self.lossOrClosed }
            return value
        }
    }

    /// Runs `body` with a connection for reads that may take long.
    func view<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        do throws(BreakerStoreError) {
            return try self.waitingForRecovery { () throws(BreakerStoreError) in
                try self.viewer.use(opening: self.openViewer, body)
            }
        } catch {
            // A broken file is quarantined, a row with a refused value is repaired. Other errors concern only this
            // read: calls and commits find out for themselves whether the file can be used.
            if error.code == .corrupt || error.isOfRefusedValue { self.readFailed(error) }
            throw error
        }
    }

    /// Reads, and tries again while another connection recovers the wal-index.
    ///
    /// Writers never block a reader. A connection that recovers the wal-index blocks readers for a moment: in a new
    /// file, or after a writer has died (https://sqlite.org/rescode.html#busy_recovery). The caller waits for the end
    /// of the recovery, at most for `busyTimeout`, because the in-memory fallback would admit calls to a circuit that
    /// other processes have opened. No caller waits once the store is degraded.
    private func waitingForRecovery<Value>(
        _ read: () throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        var deadline: Deadline?
        while true {
            do throws(BreakerStoreError) {
                return try read()
            } catch {
                guard error.code == .busy, !self.isDegraded else { throw error }
                let end = deadline ?? Deadline(after: self.configuration.busyTimeout)
                deadline = end
                guard !end.isOver else { throw error }
                end.pause()
            }
        }
    }

    /// Opens another connection to the files that calls read.
    ///
    /// The identity is checked because the path may lead to any file while the store is being opened again.
    private func openViewer() throws(BreakerStoreError) -> Database {
        guard let identity = self.answers.identity else { throw self.lossOrClosed }
        return try self.answers.open(as: identity)
    }
}
