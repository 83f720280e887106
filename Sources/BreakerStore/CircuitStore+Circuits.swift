/// Looking at circuits, their history and the workers. Each reads the file on the calling thread and changes nothing.
extension CircuitStore {
    /// The circuits whose names match an SQLite GLOB pattern, in the order of their names.
    ///
    /// Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    /// - Parameter pattern: `*` for any characters, `?` for one, `[…]` for one of several; at most 50,000 bytes.
    public func circuits(matching pattern: String = "*") throws(BreakerStoreError) -> [CircuitSnapshot] {
        try Validation.pattern(pattern)
        return try self.view { (view) throws(BreakerStoreError) in
            let dates = view.clock.dates()
            let now = view.clock.now
            return try view.database.circuits(matching: pattern).map { (found) throws(BreakerStoreError) in
                let workers = try view.registeredWorkers(of: found.circuit.row.id)
                return CircuitSnapshot(
                    name: found.name, stored: found.circuit, at: now, workers: workers, isAlive: view.isAlive, dates)
            }
        }
    }

    /// The circuit of this name, or nil.
    ///
    /// Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    /// - Parameter name: the circuit's name.
    public func circuit(named name: String) throws(BreakerStoreError) -> CircuitSnapshot? {
        try self.view { (view) throws(BreakerStoreError) in
            guard let stored = try view.database.circuit(named: name) else { return nil }
            let workers = try view.registeredWorkers(of: stored.row.id)
            return CircuitSnapshot(
                name: name, stored: stored, at: view.clock.now, workers: workers, isAlive: view.isAlive,
                view.clock.dates())
        }
    }

    /// What happened, newest first.
    ///
    /// Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    /// - Parameters:
    ///   - name: a circuit's name; nil for all of them, and what befell the store itself.
    ///   - limit: how many events at most; zero or less yields none.
    public func history(of name: String? = nil, limit: Int = 100) throws(BreakerStoreError) -> [CircuitEvent] {
        try self.view { (view) throws(BreakerStoreError) in
            let dates = view.clock.dates()
            return try view.database.events(of: name, limit: limit).compactMap { CircuitEvent($0, view.isOwn, dates) }
        }
    }

    /// The workers that live: the open stores of this host's processes.
    ///
    /// Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    public func workers() throws(BreakerStoreError) -> [WorkerSnapshot] {
        try self.view { (view) throws(BreakerStoreError) in try view.livingWorkers() }
    }

    /// Runs `body` with the file as of one instant.
    func view<Value>(
        _ body: (StoreView) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try self.requireUsable()
        guard let core = self.backend.core else {
            return try StoreView.ofFile(self.backend.file, self.configuration.clock, body)
        }
        return try core.view { (database) throws(BreakerStoreError) in
            try StoreView(database, core.clock, isAlive: core.isAlive, isOwn: core.answers.isOwn).asOfOneInstant(body)
        }
    }
}
