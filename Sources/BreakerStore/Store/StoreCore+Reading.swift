import Synchronization

/// What a call learns by looking at the file.
struct Look {
    var answer: Circuit.Answer
    var epoch: Int64
    /// The consecutive rule: a success forgets failures.
    var reportsSuccess: Bool
    var hasFailures: Bool
    var lastError: String?
    var label: String?
    /// When the answer was read.
    var now: StoreTime
}

extension StoreCore {
    /// Looks up what a call would get, and keeps the answer for the next; nil if there is no circuit of this name.
    ///
    /// Takes a lock and reads for some microseconds; it waits for no writer.
    func look(_ asker: Asker) throws(BreakerStoreError) -> Look? {
        if let found = self.lookThroughWriter(asker) { return found }
        return try self.read { (database) throws(BreakerStoreError) in try self.lookLocked(asker, through: database) }
    }

    /// Looks through the connection that writes, if that is free: it still has the pages that this process wrote last, which
    /// the other would read anew after each commit.
    private func lookThroughWriter(_ asker: Asker) -> Look? {
        guard !self.isDegraded else { return nil }
        return self.session.withLockIfAvailable { session in
            guard let writer = session?.opened.writer else { return nil }
            // Who waits for whoever has the reader would keep others from the writer meanwhile.
            let found = self.reading.withLockIfAvailable { _ in
                // What goes wrong will with the reader too, which knows what to do.
                try? self.lookLocked(asker, through: writer)
            }
            return found ?? nil
        } ?? nil
    }

    /// The same through a connection that the caller may use.
    func look(_ asker: Asker, through database: Database) throws(BreakerStoreError) -> Look? {
        // One at a time publishes an answer: the one who has the lock of the reading.
        try self.reading.withLock { (_) throws(BreakerStoreError) in try self.lookLocked(asker, through: database) }
    }

    private func lookLocked(_ asker: Asker, through database: Database) throws(BreakerStoreError) -> Look? {
        let name = asker.circuit.name
        // Taken before the read begins: what is read is at least as new as the header.
        let held = asker.gate.tag()
        let found = try database.first(
            CircuitRow.lookByName,
            .text(name)
        ) { row throws(BreakerStoreError) in
            let extra = CircuitRow.columnCount
            self.clock.follow(ClockRow(row, from: extra + 1))
            return (
                row: try CircuitRow(row, name: name, path: self.file.path),
                hasFailures: row.integer(extra) != 0
            )
        }
        guard let found else { return nil }
        var circuit = found.row.circuit
        if case .halfOpen = circuit.state {
            circuit.probes = try database.probes(of: found.row.id, under: circuit.rules)
        }
        let now = self.clock.now
        let stored = circuit
        circuit.takeStampsAhead(for: now)
        let look = Look(
            // What can't be is set right by a commit, or its end would move on with the clock.
            answer: circuit.state == stored.state ? circuit.answer(at: now, isAlive: self.isAlive) : .claim,
            epoch: circuit.epoch,
            reportsSuccess: circuit.rules.isConsecutive,
            hasFailures: found.hasFailures,
            lastError: circuit.lastError,
            label: found.row.label,
            now: now
        )
        if let held, let answer = self.cacheable(look, circuit) {
            asker.circuit.slot.publish(answer, readUnder: held.tag, generation: held.generation)
        }
        let before = asker.circuit.told
        asker.circuit.told = SharedCircuit.Told(
            group: look.label,
            lastError: look.lastError,
            epoch: look.epoch,
            rules: circuit.rules
        )
        if circuit.rules.isKnown, before.rules != circuit.rules || before.group != look.label {
            self.noteInForce(CircuitBreaker.Config(name: name, group: look.label, rules: circuit.rules))
        }
        return look
    }

    /// The circuit with its failures and probes; nil if there is none of this name.
    func circuit(_ name: String) throws(BreakerStoreError) -> CircuitRow? {
        try self.read { (database) throws(BreakerStoreError) in
            try database.snapshot { () throws(BreakerStoreError) in
                try self.clock.follow(database)
                return try database.circuit(named: name)
            }
        }
    }

    /// Runs `body` with the connection that reads.
    ///
    /// No writer is in the way, but who recovers the wal-index after a writer's death is, for a moment
    /// (https://sqlite.org/rescode.html#busy_recovery): memory must not answer for that long, or a circuit that others
    /// have opened would let calls through. Once the store is degraded nobody waits.
    func read<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try self.reading.withLock { (reading) throws(BreakerStoreError) in
            guard let database = reading.database else { throw self.closedOrLost }
            var deadline: Deadline?
            while true {
                do throws(BreakerStoreError) {
                    return try body(database)
                } catch {
                    guard error.code == .busy, !self.isDegraded else { throw error }
                    let end = deadline ?? Deadline(after: self.configuration.busyTimeout)
                    deadline = end
                    guard !end.isOver else { throw error }
                    end.pause()
                }
            }
        }
    }

    /// Runs `body` with a connection for reads that may take long.
    func view<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        do throws(BreakerStoreError) {
            return try self.viewer.withLock { (viewer) throws(BreakerStoreError) in
                if viewer == nil { viewer = try self.openViewer() }
                guard let database = viewer else { throw self.closedOrLost }
                do throws(BreakerStoreError) {
                    return try body(database)
                } catch {
                    // The next one may have better luck with another.
                    if error.isOfTheFile, error.code != .busy { viewer = nil }
                    throw error
                }
            }
        } catch {
            // Whoever meets it: a broken file is seen to.
            if error.code == .corrupt { self.readFailed(error) }
            throw error
        }
    }

    /// Another connection to what calls read: while that is opened anew, the path may lead anywhere.
    private func openViewer() throws(BreakerStoreError) -> Database {
        let identity = self.reading.withLock { $0.database == nil ? nil : $0.newest?.identity }
        guard let identity else { throw self.closedOrLost }
        guard FileIdentity(of: self.file) == identity else { throw self.moved }
        return try Database.sharing(self.file, as: identity)
    }

    /// The answer as the cached form has it.
    ///
    /// What a claim decides, or the kernel must be asked for, is never cached.
    private func cacheable(_ look: Look, _ circuit: Circuit) -> CachedAnswer? {
        func end(_ time: StoreTime?) -> Int64 { time.map(self.clock.uptime) ?? .max }
        switch look.answer {
        case .proceed:
            switch circuit.rules.trip {
            case .failures, .unknown: return CachedAnswer(.proceed, epoch: look.epoch, until: .max)
            case .consecutiveFailures:
                return CachedAnswer(.proceedAndReportSuccess, epoch: look.epoch, until: look.hasFailures ? 1 : 0)
            }
        case .uncounted: return CachedAnswer(.heldClosed, epoch: look.epoch, until: end(circuit.hold?.until))
        case .refuse(.open, let until): return CachedAnswer(.open, epoch: look.epoch, until: end(until))
        case .refuse(.held, let until): return CachedAnswer(.heldOpen, epoch: look.epoch, until: end(until))
        case .refuse(.probing, until: _), .claim: return nil
        }
    }
}

extension StoreClock {
    /// Takes over the file's offset, as one who only reads.
    ///
    /// - Parameter row: nil where it can't be read; then what is known goes on, until a writer has made the row anew.
    func follow(_ row: ClockRow?) {
        guard let row else { return }
        let offset = row.offsetToRead(self)
        if row.isOf(boot: self.host.bootID) { self.raiseOffset(to: offset) } else { self.offset = offset }
    }

    func follow(_ database: Database) throws(BreakerStoreError) { self.follow(try ClockRow.read(database)) }
}

extension Database {
    /// Reads all that `body` reads as of one instant.
    func snapshot<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.run("BEGIN")
        defer { self.rollback() }
        return try body()
    }

    /// The circuit with its failures and probes; nil if there is none of this name.
    func circuit(named name: String) throws(BreakerStoreError) -> CircuitRow? {
        let path = self.connection.path
        let row = try self.first(CircuitRow.byName, .text(name)) { row throws(BreakerStoreError) in
            try CircuitRow(row, name: name, path: path)
        }
        return try row.map { (row) throws(BreakerStoreError) in try self.complete(row) }
    }

    /// The circuits whose names match, in the order of their names.
    func circuits(matching pattern: String) throws(BreakerStoreError) -> [(name: String, row: CircuitRow)] {
        let path = self.connection.path
        let rows = try self.all(CircuitRow.byPattern, .text(pattern)) { row throws(BreakerStoreError) in
            let name = row.text(CircuitRow.columnCount)
            // One that can't be read hides no other.
            return (try? CircuitRow(row, name: name, path: path)).map { (name: name, row: $0) }
        }
        return try rows.compactMap(\.self).map { (found) throws(BreakerStoreError) in
            (found.name, try self.complete(found.row))
        }
    }

    private func complete(_ row: CircuitRow) throws(BreakerStoreError) -> CircuitRow {
        var row = row
        row.circuit.failures = try self.failures(of: row.id, under: row.circuit.rules)
        row.circuit.probes = try self.probes(of: row.id, under: row.circuit.rules)
        return row
    }
}
