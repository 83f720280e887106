/// Forgets circuits, and deletes the history of circuits that are gone.
extension Transaction {
    /// Deletes a circuit and its rows, but not its history; false if no circuit has this name.
    func forget(
        _ name: String,
        by operator: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) -> Bool {
        let id = try self.database.first("SELECT id FROM circuit WHERE name = ?1", .text(name)) { $0.integer(0) }
        guard let id else { return false }
        return try self.forget(id, name: name, by: `operator`, reason: reason)
    }

    /// Deletes a circuit by its row id, because its name may not be UTF-8; false if there is no such row.
    func forget(
        _ id: Int64,
        name: String,
        by operator: String?,
        reason: String?
    ) throws(BreakerStoreError) -> Bool {
        let stored = try self.database.first("SELECT epoch FROM circuit WHERE id = ?1", .integer(id)) { $0.epoch(0) }
        guard let stored else { return false }
        // nil if the row can't be read, which may be why the caller forgets the circuit.
        let circuit = try? self.circuit(name)
        let epoch = max(stored, circuit?.epoch ?? stored)
        self.unload(name)
        try self.database.deleteCircuit(id)
        // A new circuit of this name starts at a higher epoch, so late results for the old circuit change nothing.
        try self.raiseEpochFloor(to: epoch.adding(1))
        try self.write(Transition(kind: .forgotten, from: circuit?.word, reason: reason), of: name, by: `operator`)
        return true
    }

    /// Removes this worker's registration of a circuit that it has not used since `time`.
    func unregister(_ name: String, unusedSince time: StoreTime) throws(BreakerStoreError) {
        let id = try self.database.first("SELECT id FROM circuit WHERE name = ?1", .text(name)) { $0.integer(0) }
        guard let id else { return }
        try self.database.foldCounters(of: self.worker.id, circuit: id)
        try self.database.run(
            "DELETE FROM registration WHERE worker = ?1 AND circuit = ?2", SQLValue(self.worker.id), .integer(id))
        try self.database.run(
            // A later version's row may not pass the checks of this version's table.
            "UPDATE OR IGNORE circuit SET registered = max(registered, ?2) WHERE id = ?1",
            .integer(id), .integer(time.microseconds)
        )
    }

    /// Removes dead workers, so that circuits which only they have registered become idle.
    func removeDeadWorkers() throws(BreakerStoreError) {
        for worker in try self.database.workers() where !self.isAlive(worker.worker.id) {
            try self.database.removeWorker(worker.worker.id, at: self.now)
        }
    }

    /// Forgets the circuits among `ids` that have been idle since `time`.
    func forgetIdle(_ ids: [Int64], since time: StoreTime) throws(BreakerStoreError) {
        for id in ids {
            guard let idle = try self.database.idleCircuit(id, since: time) else { continue }
            let addition =
                switch idle.state {
                case .closed: ""
                case .open: ", and due"
                case .halfOpen: ", and half-open"
                }
            let reason = "unused for longer than forgetIdleAfter\(addition)"
            _ = try self.forget(id, name: idle.name, by: nil, reason: reason)
        }
    }

    /// Deletes events, oldest first, of circuits that are gone and have had no event since `time`.
    ///
    /// - Parameter max: how many events are deleted at most.
    /// - Returns: whether more may be left.
    func forgetHistory(of names: [String], since time: StoreTime, atMost max: Int) throws(BreakerStoreError) -> Bool {
        var remaining = Int64(max)
        for name in names where remaining > 0 {
            guard try self.database.isLeftBehind(name, since: time) else { continue }
            let before = self.database.connection.changes
            try self.database.run(
                "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE circuit = ?1 ORDER BY id LIMIT ?2)",
                .text(name), .integer(remaining))
            remaining -= self.database.connection.changes - before
        }
        return remaining <= 0
    }
}

extension Database {
    // A half-open circuit is idle if its probers have died, or have kept their slots for longer than their leases.
    private static let isIdle = """
        (state = 'closed' OR state = 'open' AND open_until <= ?2 OR state = 'half-open' AND NOT EXISTS
        (SELECT 1 FROM probe WHERE probe.circuit = circuit.id AND lease_ends > ?2
        AND probe.worker IN (SELECT id FROM worker)))
        AND (hold IS NULL OR hold_until <= ?2) AND max(since, registered) <= ?2
        AND NOT EXISTS (SELECT 1 FROM registration WHERE registration.circuit = circuit.id)
        """
    private static let idleCircuit = SQL(
        composed: "SELECT name, state FROM circuit WHERE id = ?1 AND \(isIdle)")
    private static let idleCircuits = SQL(
        composed: "SELECT id FROM circuit WHERE id > ?1 AND \(isIdle) ORDER BY id LIMIT ?3")

    fileprivate enum IdleState: String {
        /// An open circuit that is idle is due.
        case closed, open
        case halfOpen = "half-open"
    }

    /// A circuit's name and state; nil if the circuit is not idle.
    fileprivate func idleCircuit(
        _ id: Int64, since time: StoreTime
    ) throws(BreakerStoreError) -> (name: String, state: IdleState)? {
        try self.first(Self.idleCircuit, .integer(id), .integer(time.microseconds)) {
            (name: $0.text(0), state: IdleState(rawValue: $0.text(1)) ?? .closed)
        }
    }

    /// The next row ids of idle circuits: unused since `time`, not held, and closed, due or half-open without a probe.
    func idleCircuits(
        after row: Int64, since time: StoreTime, atMost count: Int
    ) throws(BreakerStoreError) -> [Int64] {
        try self.all(
            Self.idleCircuits, .integer(row), .integer(time.microseconds), .integer(Int64(count))
        ) { $0.integer(0) }
    }

    /// Examines the next `count` names of the history; nil if there are no more names.
    ///
    /// - Returns: the names whose circuits are gone and have had no event since `time`, and the last name examined.
    func namesLeftBehind(
        after name: String, since time: StoreTime, among count: Int
    ) throws(BreakerStoreError) -> (names: [String], last: String)? {
        var names: [String] = []
        var last = name
        for _ in 0..<count {
            let next = try self.first("SELECT min(circuit) FROM event WHERE circuit > ?1", .text(last)) {
                $0.optionalText(0)
            }
            guard let next = next ?? nil else { break }
            // A name that is not UTF-8 reads as another name, which may come before `last`.
            guard last.utf8.lexicographicallyPrecedes(next.utf8) else { break }
            last = next
            if try self.isLeftBehind(next, since: time) { names.append(next) }
        }
        return last.utf8.elementsEqual(name.utf8) ? nil : (names, last)
    }

    fileprivate func isLeftBehind(_ name: String, since time: StoreTime) throws(BreakerStoreError) -> Bool {
        let found = try self.first(
            """
            SELECT NOT EXISTS (SELECT 1 FROM circuit WHERE name = ?1)
            AND coalesce((SELECT at FROM event WHERE circuit = ?1 ORDER BY id DESC LIMIT 1), 0) <= ?2
            """,
            .text(name), .integer(time.microseconds)
        ) { $0.integer(0) }
        return found == 1
    }
}
