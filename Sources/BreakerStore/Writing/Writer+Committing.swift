/// Runs transactions: each change of a circuit by a call or an operator passes through here.
extension Writer {
    /// The outcome of a batch, for callers that still wait.
    struct BatchResult {
        /// These closures resume the callers whose changes were committed.
        var completions: [@Sendable () -> Void] = []
        var failed: [(ticket: any AnyTicket, error: BreakerStoreError)] = []
        /// Why the file can't be used any longer.
        var loss: BreakerStoreError?
        var hasEvents = false
    }

    private struct Work {
        let queue: any Batches
        let circuits: () -> [CircuitName: CircuitBreaker.Config]
    }

    /// Commits all tickets that wait, in one transaction; if that fails, one by one.
    ///
    /// - Parameters:
    ///   - queue: the tickets that wait.
    ///   - circuits: the circuits that this process uses, in case rows must be healed.
    func commit(
        _ queue: any Batches,
        circuits: @escaping () -> [CircuitName: CircuitBreaker.Config]
    ) -> BatchResult {
        var outcome = BatchResult()
        guard let opened = self.opened else {
            outcome.loss = queue.lossOrClosed
            return outcome
        }
        do throws(BreakerStoreError) {
            let isLocked = try opened.writer.begin(unless: { queue.giveUpIfOverdue() })
            guard isLocked else { throw .busy(self.file.path) }
            try self.commit(queue.takeAll(), opened, Work(queue: queue, circuits: circuits), &outcome)
        } catch {
            opened.writer.rollback()
            outcome.loss = error
        }
        return outcome
    }

    /// Commits in the transaction that has begun; throws if the file can't be used.
    ///
    /// - Parameter isHealed: whether the rows have been healed already, because a row was in the way.
    private func commit(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ work: Work,
        isHealed: Bool = false,
        _ outcome: inout BatchResult
    ) throws(BreakerStoreError) {
        let transaction: Transaction
        var completions: [@Sendable () -> Void] = []
        do throws(BreakerStoreError) {
            transaction = try self.perform(tickets, opened, work.queue, &completions)
            try self.requireFiles(opened)
        } catch {
            opened.writer.rollback()
            return try self.tryAgain(tickets, opened, work, isHealed: isHealed, after: error, &outcome)
        }
        outcome.completions += completions
        if transaction.hasEvents { outcome.hasEvents = true }
        if self.needsSync(transaction), let error = self.sync(opened) { throw error }
    }

    /// Commits the changes in the transaction that has begun, without a sync.
    private func perform(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ queue: any Batches,
        _ completions: inout [@Sendable () -> Void]
    ) throws(BreakerStoreError) -> Transaction {
        completions.reserveCapacity(tickets.count)
        let transaction = try self.transaction(opened)
        for ticket in tickets { completions.append(try ticket.perform(in: transaction)) }
        let takesAlong = transaction.hasTransitions || transaction.hasRegistrations
        let saving = takesAlong ? queue.ticketToSaveAlong(by: transaction.worker.id) : nil
        do throws(BreakerStoreError) {
            if let saving { completions.append(try saving.perform(in: transaction)) }
            try transaction.flush()
            // If the lock file was removed, other processes take this worker for dead, and its slots for free.
            if transaction.hasClaims, !opened.lock.isInPlace { throw BreakerStoreError.moved(self.file.path) }
            Hook.reached("commit.begin")
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
        } catch {
            // A further try goes without it, because the pause has begun again.
            saving?.fail(error)
            throw error
        }
        self.cacheClock(transaction.clock, committedBy: opened)
        Hook.reached("commit.done")
        return transaction
    }

    /// Tests the open connection by a commit; returns whether it works, or nil if the file must be opened again.
    ///
    /// False if the file can't be written yet: other processes lock it, the disk is full, or this process may not
    /// write.
    func tryToWrite(unless isOver: () -> Bool) -> Bool? {
        guard let opened = self.opened else { return nil }
        // Other processes take turns with the file: a process that asks now and then may find it locked each time.
        let deadline = self.deadline
        do throws(BreakerStoreError) {
            guard try opened.writer.begin(unless: { deadline.isOver || isOver() }) else { return false }
            defer { opened.writer.rollback() }
            try opened.writer.requireKnownVersion()
            // An unchanged value would write nothing, and prove nothing.
            try opened.writer.run("UPDATE worker SET since = since - 1 WHERE id = ?1", .integer(opened.worker.id))
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
            return true
        } catch {
            switch error.code {
            case .full, .busy, .permissionDenied: return false
            default: return nil
            }
        }
    }

    private func tryAgain(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ work: Work,
        isHealed: Bool,
        after error: BreakerStoreError,
        _ outcome: inout BatchResult
    ) throws(BreakerStoreError) {
        guard !error.isOfTheFile else { throw outcome.fail(tickets, error) }
        guard error.isOfUnusableRow, !isHealed else {
            guard tickets.count == 1 else { return try self.commitOneByOne(tickets, opened, work, &outcome) }
            // A store that can't count a failure is not healthy: it must degrade, so that memory guards.
            if error.isOfUnusableRow { throw outcome.fail(tickets, .unwritable(error)) }
            outcome.failed.append((tickets[0], error))
            return
        }
        do throws(BreakerStoreError) {
            try self.heal(opened, work.circuits())
            guard try opened.writer.begin(unless: { tickets.allSatisfy(\.deadline.isOver) }) else {
                throw BreakerStoreError.busy(self.file.path)
            }
        } catch {
            throw outcome.fail(tickets, error)
        }
        try self.commit(tickets, opened, work, isHealed: true, &outcome)
    }

    private func commitOneByOne(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        _ work: Work,
        _ outcome: inout BatchResult
    ) throws(BreakerStoreError) {
        for (index, ticket) in tickets.enumerated() {
            do throws(BreakerStoreError) {
                guard try opened.writer.begin(unless: { ticket.deadline.isOver }) else {
                    throw BreakerStoreError.busy(self.file.path)
                }
            } catch {
                throw outcome.fail(Array(tickets[index...]), error)
            }
            do throws(BreakerStoreError) {
                try self.commit([ticket], opened, work, &outcome)
            } catch {
                throw outcome.fail(Array(tickets[(index + 1)...]), error)
            }
            // The next tickets may wait for long, and the deadline of this ticket would pass.
            work.queue.made(outcome.completions)
            outcome.completions = []
        }
    }
}

extension Writer {
    /// The queue of tickets, as the writer sees it.
    protocol Batches {
        /// Gives up the file, which other processes have locked, if a ticket has waited until its deadline.
        ///
        /// - Returns: whether the file was given up.
        func giveUpIfOverdue() -> Bool
        /// Takes all tickets that wait, in order; called once the file is locked.
        func takeAll() -> [any AnyTicket]
        /// A ticket that saves totals along with a change of state or a registration; nil if none are due.
        func ticketToSaveAlong(by worker: Int64) -> (any AnyTicket)?
        /// Resumes the callers of committed changes while other tickets still wait; the file can be used.
        func made(_ completions: [@Sendable () -> Void])
        /// Why the file is not open.
        var lossOrClosed: BreakerStoreError { get }
    }
}

extension Writer.BatchResult {
    /// Notes that all these tickets failed for the same reason, and returns that error.
    fileprivate mutating func fail(_ tickets: [any AnyTicket], _ error: BreakerStoreError) -> BreakerStoreError {
        self.failed += tickets.map { ($0, error) }
        return error
    }
}
