/// Group commit: runs the changes of all waiting tickets in one transaction.
///
/// If the transaction fails, the writer takes these steps in turn:
/// - An error of the file or the system fails all tickets, and the store degrades.
/// - An unusable row is repaired, and the same tickets are tried again together, but only once.
/// - Otherwise each ticket gets a transaction of its own, so that one bad change fails alone. That transaction may
///   repair once more. If a row is still unusable then, the store degrades.
extension Writer {
    /// What became of a batch, for the callers that still wait.
    struct BatchResult {
        /// These closures resume the callers whose changes were committed.
        var completions: [@Sendable () -> Void] = []
        var failed: [(ticket: any AnyTicket, error: BreakerStoreError)] = []
        /// Why the file can't be used any longer.
        var loss: BreakerStoreError?
        var hasEvents = false
    }

    /// Where the tickets come from, and the circuits that a repair registers again.
    private struct Source {
        let queue: any TicketQueue
        let circuits: () -> [CircuitName: CircuitBreaker.Config]
    }

    /// Commits all waiting tickets.
    ///
    /// - Parameters:
    ///   - queue: the tickets that wait.
    ///   - circuits: the circuits that this process uses: a repair registers them again.
    func commit(
        _ queue: any TicketQueue,
        circuits: @escaping () -> [CircuitName: CircuitBreaker.Config]
    ) -> BatchResult {
        var result = BatchResult()
        guard let opened = self.opened else {
            result.loss = queue.lossOrClosed
            return result
        }
        do throws(BreakerStoreError) {
            let hasBegun = try opened.writer.begin(unless: { queue.giveUpIfOverdue() })
            guard hasBegun else { throw .busy(self.file.path) }
            try self.commit(queue.drainAll(), opened, Source(queue: queue, circuits: circuits), into: &result)
        } catch {
            opened.writer.rollback()
            result.loss = error
        }
        return result
    }

    /// Commits in the transaction that has begun; throws if the file can't be used.
    ///
    /// - Parameter isRepaired: whether the rows have already been repaired for these tickets.
    private func commit(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ source: Source,
        isRepaired: Bool = false,
        into result: inout BatchResult
    ) throws(BreakerStoreError) {
        let transaction: Transaction
        var completions: [@Sendable () -> Void] = []
        do throws(BreakerStoreError) {
            transaction = try self.perform(tickets, opened, source.queue, &completions)
        } catch {
            opened.writer.rollback()
            return try self.retry(tickets, opened, source, isRepaired: isRepaired, after: error, into: &result)
        }
        result.completions += completions
        if transaction.hasEvents { result.hasEvents = true }
        if self.needsSync(transaction), let error = self.sync(opened) { throw error }
    }

    /// Commits the changes in the transaction that has begun, without a sync.
    private func perform(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ queue: any TicketQueue,
        _ completions: inout [@Sendable () -> Void]
    ) throws(BreakerStoreError) -> Transaction {
        completions.reserveCapacity(tickets.count)
        let transaction = try self.transaction(opened)
        for ticket in tickets { completions.append(try ticket.perform(in: transaction)) }
        let savesAlong = transaction.hasDurableChanges || transaction.hasRegistrations
        let counterTicket = savesAlong ? queue.ticketToSaveAlong(by: transaction.worker.id) : nil
        do throws(BreakerStoreError) {
            if let counterTicket { completions.append(try counterTicket.perform(in: transaction)) }
            try transaction.flush()
            // If the lock file was removed, this worker looks dead to other processes, and its slots look free.
            if transaction.hasClaims, !opened.lock.isInPlace { throw BreakerStoreError.moved(self.file.path) }
            Hook.reached("commit.begin")
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
            try self.requireFiles(opened)
        } catch {
            // Ends the batch of totals, or no other batch could begin. The retry gets no totals: the pause before the
            // next batch is not over.
            counterTicket?.fail(error)
            throw error
        }
        self.cacheClock(transaction.clock, committedBy: opened)
        Hook.reached("commit.done")
        return transaction
    }

    /// The result of a test commit on the open connection.
    enum WriteProbe {
        case works
        /// Other processes lock the file, the disk is full, or this process may not write.
        case notYet
        /// The file is not open, or the connection no longer works.
        case mustReopen
    }

    /// Tests the open connection by a commit.
    @discardableResult func probeWrite(unless isOver: () -> Bool) -> WriteProbe {
        guard let opened = self.opened else { return .mustReopen }
        // Waits for the lock: other processes take turns with the file, and a single try may find it locked each time.
        let deadline = self.deadline
        do throws(BreakerStoreError) {
            guard try opened.writer.begin(unless: { deadline.isOver || isOver() }) else { return .notYet }
            defer { opened.writer.rollback() }
            try opened.writer.requireKnownVersion()
            // An unchanged value would write nothing, and prove nothing.
            try opened.writer.run("UPDATE worker SET since = since - 1 WHERE id = ?1", SQLValue(opened.worker.id))
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
            return .works
        } catch {
            switch error.code {
            case .full, .busy, .permissionDenied: return .notYet
            default: return .mustReopen
            }
        }
    }

    /// Decides, after a failed transaction, between repair, one transaction for each ticket, and failure.
    private func retry(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ source: Source,
        isRepaired: Bool,
        after error: BreakerStoreError,
        into result: inout BatchResult
    ) throws(BreakerStoreError) {
        guard !error.concernsFile else { throw result.fail(tickets, error) }
        switch (error.isRowDamage, isRepaired) {
        case (true, false):
            do throws(BreakerStoreError) {
                try self.repair(opened, source.circuits())
                guard try opened.writer.begin(unless: { tickets.allSatisfy(\.deadline.isOver) }) else {
                    throw BreakerStoreError.busy(self.file.path)
                }
            } catch {
                throw result.fail(tickets, error)
            }
            try self.commit(tickets, opened, source, isRepaired: true, into: &result)
        case _ where tickets.count != 1: try self.commitOneByOne(tickets, opened, source, into: &result)
        // A store that can't count a failure must degrade, so that the in-memory fallback decides about calls.
        case (true, true): throw result.fail(tickets, .unwritable(error))
        case (false, _): result.failed.append((tickets[0], error))
        }
    }

    private func commitOneByOne(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ source: Source,
        into result: inout BatchResult
    ) throws(BreakerStoreError) {
        for (index, ticket) in tickets.enumerated() {
            do throws(BreakerStoreError) {
                guard try opened.writer.begin(unless: { ticket.deadline.isOver }) else {
                    throw BreakerStoreError.busy(self.file.path)
                }
            } catch {
                throw result.fail(Array(tickets[index...]), error)
            }
            do throws(BreakerStoreError) {
                try self.commit([ticket], opened, source, into: &result)
            } catch {
                throw result.fail(Array(tickets[(index + 1)...]), error)
            }
            // Resumed now: the next tickets may wait for long, and the deadline of this ticket would pass.
            source.queue.resume(result.completions)
            result.completions = []
        }
    }
}

extension Writer {
    /// The queue of tickets, as the writer sees it.
    protocol TicketQueue {
        /// Stops waiting for a file that other processes have locked, if a ticket has waited until its deadline.
        ///
        /// - Returns: whether the writer must stop waiting.
        func giveUpIfOverdue() -> Bool
        /// Removes and returns all tickets that wait, in order; called once the file is locked.
        func drainAll() -> [any AnyTicket]
        /// A ticket that saves totals along with a change of state or a registration; nil if none are due.
        func ticketToSaveAlong(by worker: WorkerID) -> (any AnyTicket)?
        /// Resumes the callers of committed changes while other tickets still wait.
        func resume(_ completions: [@Sendable () -> Void])
        /// Why the file is not open.
        var lossOrClosed: BreakerStoreError { get }
    }
}

extension Writer.BatchResult {
    /// Records that all these tickets failed with one error, and returns the error.
    fileprivate mutating func fail(_ tickets: [any AnyTicket], _ error: BreakerStoreError) -> BreakerStoreError {
        self.failed += tickets.map { ($0, error) }
        return error
    }
}

extension Writer {
    /// Deletes rows that no version of this library can have written, records that, and registers circuits again.
    func repair(_ opened: Opened, _ circuits: [CircuitName: CircuitBreaker.Config]) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                let transaction = try self.transaction(opened)
                var repair = Repair(opened.writer, at: transaction.start)
                try repair.run()
                try transaction.raiseEpochFloor(to: repair.epochFloor)
                for note in repair.notes { try transaction.write(note.transition, of: note.circuit, by: nil) }
                for name in repair.removed {
                    if let config = circuits[CircuitName(name)] { try transaction.register(config) }
                }
                try transaction.flush()
                try self.requireIndex(opened)
            }
        } catch {
            throw error.isRowDamage ? .unwritable(error) : error
        }
        try self.requireFiles(opened)
    }
}
