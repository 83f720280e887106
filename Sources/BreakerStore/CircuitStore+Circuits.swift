import Dispatch

/// Reads circuits, their history and the workers; changes nothing.
///
/// The synchronous forms read on the calling thread; the asynchronous forms block no thread of the cooperative pool.
extension CircuitStore {
    /// The circuits whose names match an SQLite GLOB pattern, in the order of their names.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    /// - Parameter pattern: `*` for any characters, `?` for one character, `[…]` for one of several; at most 50,000
    ///   bytes.
    @_disfavoredOverload
    public func circuits(matching pattern: String = "*") throws(BreakerStoreError) -> [CircuitSnapshot] {
        try self.circuits(matching: pattern, limit: .max)
    }

    /// The circuits whose names match an SQLite GLOB pattern, in the order of their names.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`.
    /// - Parameter pattern: `*` for any characters, `?` for one character, `[…]` for one of several; at most 50,000
    ///   bytes.
    public func circuits(matching pattern: String = "*") async throws(BreakerStoreError) -> [CircuitSnapshot] {
        try await self.circuits(matching: pattern, limit: .max)
    }

    /// A page of the circuits, in the order of their names.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    /// - Parameters:
    ///   - pattern: an SQLite GLOB pattern for the names.
    ///   - group: the circuits' group; nil for any.
    ///   - isClosed: whether the circuits are closed, and not held; nil for any.
    ///   - name: the last name of the previous page; nil for the first page.
    ///   - limit: how many at most; zero or less yields none.
    @_disfavoredOverload
    public func circuits(
        matching pattern: String, group: String? = nil, isClosed: Bool? = nil, after name: String? = nil, limit: Int
    ) throws(BreakerStoreError) -> [CircuitSnapshot] {
        try Validation.pattern(pattern)
        return try self.view { (view) throws(BreakerStoreError) in
            guard limit > 0 else { return [] }
            var found: [CircuitSnapshot] = []
            try view.database.circuits(
                .byName(pattern, after: name), countedOn: view.board, withWorkers: true,
                where: { row in
                    (group == nil || row.group == group)
                        && isClosed.map { $0 == (view.moment.state(of: row) == .closed) } ?? true
                },
                while: { circuit in
                    found.append(CircuitSnapshot(circuit, at: view.moment))
                    return found.count < limit
                })
            return found
        }
    }

    /// A page of the circuits, in the order of their names.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`.
    /// - Parameters:
    ///   - pattern: an SQLite GLOB pattern for the names.
    ///   - group: the circuits' group; nil for any.
    ///   - isClosed: whether the circuits are closed, and not held; nil for any.
    ///   - name: the last name of the previous page; nil for the first page.
    ///   - limit: how many at most; zero or less yields none.
    public func circuits(
        matching pattern: String, group: String? = nil, isClosed: Bool? = nil, after name: String? = nil, limit: Int
    ) async throws(BreakerStoreError) -> [CircuitSnapshot] {
        try await self.offThePool { () throws(BreakerStoreError) in
            try self.circuits(matching: pattern, group: group, isClosed: isClosed, after: name, limit: limit)
        }
    }

    /// The circuit of this name, or nil.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    /// - Parameter name: the circuit's name.
    @_disfavoredOverload
    public func circuit(named name: String) throws(BreakerStoreError) -> CircuitSnapshot? {
        self.backend.core?.publishCounts(of: name)
        return try self.view { (view) throws(BreakerStoreError) in
            try view.database.circuit(named: name, countedOn: view.board, withWorkers: true)
                .map { CircuitSnapshot($0, at: view.moment) }
        }
    }

    /// The circuit of this name, or nil.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`.
    /// - Parameter name: the circuit's name.
    public func circuit(named name: String) async throws(BreakerStoreError) -> CircuitSnapshot? {
        try await self.offThePool { () throws(BreakerStoreError) in try self.circuit(named: name) }
    }

    /// The events of one circuit or of all, newest first.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    /// - Parameters:
    ///   - name: a circuit's name; nil for all circuits, and the store's own events.
    ///   - id: the event after which to continue, with the oldest `limit` later events, so that none is skipped;
    ///     continue next after the first event of the answer. Nil for the newest events. If another file has taken the
    ///     store's place since, and has not reached this number, the answer has the oldest events of all.
    ///   - limit: how many events at most; zero or less yields none.
    @_disfavoredOverload
    public func history(
        of name: String? = nil, after id: CircuitEvent.ID? = nil, limit: Int = 100
    ) throws(BreakerStoreError) -> [CircuitEvent] {
        try self.view { (view) throws(BreakerStoreError) in
            let events =
                if let id {
                    Array(
                        try view.database.events(
                            of: name, after: try view.database.start(after: id), limit: limit
                        ).events.reversed())
                } else {
                    try view.database.events(of: name, limit: limit)
                }
            return events.compactMap { CircuitEvent($0, view.isOwn, view.moment.date) }
        }
    }

    /// The events of one circuit or of all, newest first.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`.
    /// - Parameters:
    ///   - name: a circuit's name; nil for all circuits, and the store's own events.
    ///   - id: the event after which to continue, with the oldest `limit` later events, so that none is skipped;
    ///     continue next after the first event of the answer. Nil for the newest events. If another file has taken the
    ///     store's place since, and has not reached this number, the answer has the oldest events of all.
    ///   - limit: how many events at most; zero or less yields none.
    public func history(
        of name: String? = nil, after id: CircuitEvent.ID? = nil, limit: Int = 100
    ) async throws(BreakerStoreError) -> [CircuitEvent] {
        try await self.offThePool { () throws(BreakerStoreError) in
            try self.history(of: name, after: id, limit: limit)
        }
    }

    /// The live workers: the open stores of this host's processes.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    @_disfavoredOverload
    public func workers() throws(BreakerStoreError) -> [WorkerSnapshot] {
        try self.view { (view) throws(BreakerStoreError) in try view.workers() }
    }

    /// The live workers: the open stores of this host's processes.
    ///
    /// Throws if the file can't be read, or `closed` or `forked`.
    public func workers() async throws(BreakerStoreError) -> [WorkerSnapshot] {
        try await self.offThePool { () throws(BreakerStoreError) in try self.workers() }
    }

    /// The file's versions and size, and the circuits that can't be read.
    ///
    /// Reads each circuit. Throws if the file can't be read, or `closed` or `forked`. Reads on the calling thread.
    @_disfavoredOverload
    public func facts() throws(BreakerStoreError) -> StoreFacts {
        let found = try self.view { (view) throws(BreakerStoreError) in
            let schema = try view.schemaVersion()
            let circuits = try view.circuits(nil, countingWorkers: false, into: 0) { count, _ in count += 1 }
            return (
                schema: schema, size: view.fileSize, count: circuits.value,
                unreadable: circuits.unreadable.map(\.name)
            )
        }
        return StoreFacts(
            schemaVersion: found.schema,
            sqliteVersion: Versions.sqlite,
            libraryVersion: Versions.library,
            fileSize: found.size,
            circuitCount: found.count + found.unreadable.count,
            unreadable: found.unreadable,
            countsPrivately: self.backend.core?.counting.isPrivate ?? false
        )
    }

    /// The file's versions and size, and the circuits that can't be read.
    ///
    /// Reads each circuit. Throws if the file can't be read, or `closed` or `forked`.
    public func facts() async throws(BreakerStoreError) -> StoreFacts {
        try await self.offThePool { () throws(BreakerStoreError) in try self.facts() }
    }

    // MARK: - For the library

    /// Runs `body`, which reads the file, on a thread that may wait: a long read must not block the cooperative pool.
    func offThePool<Value: Sendable>(
        _ body: @escaping @Sendable () throws(BreakerStoreError) -> Value
    ) async throws(BreakerStoreError) -> Value {
        // A child of `fork` has none of its parent's threads.
        try self.requireUsable()
        let result: Result<Value, BreakerStoreError> = await withCheckedContinuation { continuation in
            self.reads.async { continuation.resume(returning: Result { () throws(BreakerStoreError) in try body() }) }
        }
        return try result.get()
    }

    /// Runs `body` with a view of the file as of one instant.
    ///
    /// Runs it again from the start if a process changed the file meanwhile in a way that this reading would not
    /// notice. Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    package func view<Value>(
        _ body: (StoreView) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try self.requireUsable()
        guard let core = self.backend.core else {
            return try StoreView.ofFile(
                self.backend.file, self.configuration.clock, patience: self.configuration.busyTimeout, body)
        }
        return try core.inspect(body)
    }
}
