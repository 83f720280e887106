import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts calls, and saves the counts in the file.
extension StoreCore {
    /// Returns the board, and opens it if necessary; nil if it can't be opened now, or a recent try failed.
    func openBoard(until deadline: Deadline) -> Board? {
        self.counting.openBoard(
            until: deadline, under: { self.answers.lockFile },
            of: { () throws(BreakerStoreError) in
                // Another file may be at the path by now, and another process may have created that file's board.
                guard self.answers.isInPlace else { return nil }
                return try self.readIncarnation()
            })
    }

    /// The incarnation of the file at the path; nil if its row can't be understood.
    func readIncarnation() throws(BreakerStoreError) -> Int64? {
        try self.read { (database) throws(BreakerStoreError) in try ClockRow.read(database)?.incarnation }
    }

    @discardableResult
    func makeCellPair(for counts: CircuitCounts) -> CircuitCounts.CellPair {
        // Without a failure-rate or slow-call rule the board has only totals: waits 50 ms at most, because the caller
        // of a failed call also waits for a commit. With such a rule the counts decide: waits for `busyTimeout`.
        let deadline = counts.shortestWindow == nil ? Deadline(after: .milliseconds(50)) : self.writer.deadline
        let board = self.isForked ? nil : self.openBoard(until: deadline)
        if let pair = counts.pair(on: board) { return pair }
        return counts.makeCellPair(on: board, making: self.room(until: deadline))
    }

    /// How a board makes room for more cells: under the setup lock, and by the incarnations that the file still has.
    func room(until deadline: Deadline) -> Board.RoomMaking {
        Board.RoomMaking(
            exclusively: { (body) throws(BreakerStoreError) in
                try self.counting.withSetupLock(of: self.answers.lockFile, until: deadline, body)
            },
            mayGrow: { self.counting.mayGrow },
            incarnations: { try? self.view { (database) throws(BreakerStoreError) in try database.incarnations() } },
            growthFailed: { self.counting.postponeGrowth() })
    }

    // MARK: - Outcomes

    /// Counts a failed or slow call; returns the calls in the windows of the circuit's rules.
    ///
    /// May block as long as the file system does.
    ///
    /// - Parameters:
    ///   - origin: the circuit whose rules decide by this call, or `none`.
    ///   - isCurrent: whether the circuit is certainly still in the call's epoch. False where that is unknown: then
    ///     ticks of the future, which may be a later epoch's, stay in the windows.
    func count(
        _ failure: CountedFailure, of circuit: SharedCircuit, decidedBy origin: CircuitCounts.Origin,
        isCurrent: () -> Bool = { false }
    ) -> Circuit.WindowCounts {
        circuit.counts.count(
            failure, of: origin, by: self.keys.currentReporter, in: self.makeCellPair(for: circuit.counts),
            clock: { self.clock.uptime }, isCurrent: isCurrent)
    }

    /// Whether the circuit already has cells on the board, so that counting needs only atomic additions.
    func hasBoard(for circuit: SharedCircuit) -> Bool {
        guard let board = self.counting.board else { return false }
        return circuit.counts.madeCellPair?.board?.board === board
    }

    /// Publishes this process's counts of one circuit to the board, for all processes.
    func publishCounts(of name: String) {
        guard !self.isForked, let circuit = self.circuits[CircuitName(name)] else { return }
        self.publish(circuit.counts)
    }

    func publish(_ counts: CircuitCounts) {
        Hook.reached("counts.publishing")
        defer { Hook.reached("counts.published") }
        counts.publish(clock: { self.clock.uptime }, { self.makeCellPair(for: counts) })
    }

    /// Publishes this process's counts of a circuit, and returns the sum of all its calls.
    func totals(of circuit: SharedCircuit) throws(BreakerStoreError) -> CallTotals {
        self.publish(circuit.counts)
        return try self.view { (database) throws(BreakerStoreError) in
            let board = BoardView(of: self.file, incarnation: try ClockRow.read(database)?.incarnation, self.clock)
            let found = try database.circuit(named: circuit.name, failures: 0, countedOn: board)
            return found.map { CallTotals($0.totals, $0.durations) } ?? CallTotals()
        }
    }

    /// Like `openBoard`, but creates no board: nil if no process has.
    private func openExistingBoard(until deadline: Deadline) -> Board? {
        if self.isForked || FoundFile(self.file.board) == nil { return nil }
        return self.openBoard(until: deadline)
    }

    /// Saves the totals in a commit of its own, if they have waited for long (`StoreCounts.isSaveDue`).
    func saveCountersIfDue() {
        guard self.counting.isSaveDue(at: self.clock.uptime) else { return }
        let worker = self.keys.currentWorker
        // A board that this process has not needed yet may have counts of dead processes.
        _ = self.openExistingBoard(until: self.writer.deadline)
        let unsaved = self.counting.beginSave(
            on: .pauseIsOver, by: worker, atMost: StoreCounts.maxAtOnce, reading: self.adopt)
        if let unsaved { self.submit(self.ticket(saving: unsaved, by: worker)) }
    }

    /// A ticket that saves totals along with another commit (`StoreCounts.Occasion.otherCommit`); nil if none are due.
    func ticketToSaveAlong(by worker: WorkerID) -> (any AnyTicket)? {
        guard self.counting.maySaveAlong(at: self.clock.uptime) else { return nil }
        let unsaved = self.counting.beginSave(
            on: .otherCommit, by: worker, atMost: StoreCounts.maxAlong,
            // No further read inside a transaction.
            reading: { _ in false })
        return unsaved.map { self.ticket(saving: $0, by: worker) }
    }

    private func ticket(saving unsaved: StoreCounts.Unsaved, by worker: WorkerID) -> Ticket<Void> {
        Ticket(
            deadline: self.writer.deadline, then: { self.counting.setSaved(unsaved) },
            orElse: { _ in self.counting.cancelSave() },
            { (transaction) throws(BreakerStoreError) in
                // If the file was opened again since, this process may be another worker, with other counts.
                guard transaction.worker.id == worker else {
                    throw BreakerStoreError(
                        code: .busy, message: "the store was reopened under a new worker id", path: self.file.path)
                }
                try transaction.database.saveCounters(unsaved.counters)
            })
    }

    /// Reads a circuit that only the in-memory fallback has counted so far; false if the file can't be read now.
    ///
    /// True if only this circuit's row can't be read: then other circuits may still be read.
    func adopt(_ circuit: SharedCircuit) -> Bool {
        do throws(BreakerStoreError) {
            if let row = try self.row(of: circuit.name) {
                // `update` asks `if` only if the circuit was read before: then another thread's reading is newer.
                circuit.counts.update(
                    (row.id, row.incarnation), row.circuit.rules, epoch: row.circuit.epoch,
                    windowGeneration: row.circuit.windowGeneration,
                    if: { false })
            } else {
                circuit.counts.setMissing()
            }
            return true
        } catch {
            return error.isRowDamage
        }
    }

    /// Publishes on the board whether this worker is degraded, and why.
    func publishHealth() {
        guard !self.isForked else { return }
        let worker = self.keys.currentWorker
        if case .degraded(let date, let error) = self.health {
            let age = max(0, self.clock.host.wallTime.timeIntervalSince(date))
            let since = self.clock.uptime.subtracting(Int64(saturating: age * 1_000_000))
            guard let board = self.counting.board else { return }
            self.isMarkedDegraded.store(true, ordering: .relaxed)
            board.setDegraded(worker, since: since, reason: error.code, isAlive: self.answers.isAlive)
        } else if self.isMarkedDegraded.load(ordering: .relaxed) {
            // The board of a file that was opened again is not open yet. Each maintenance pass tries again.
            guard let board = self.openExistingBoard(until: Deadline(after: .milliseconds(50))) else { return }
            board.setDegraded(worker, since: nil, isAlive: self.answers.isAlive)
            self.isMarkedDegraded.store(false, ordering: .relaxed)
        }
    }

    // MARK: - Maintenance

    /// Publishes the counts of all lanes, and starts rate checks where other processes have counted failures.
    ///
    /// Also updates this worker's seat, and runs a round of the counting thread (`publishRateCounts`).
    func publishAllCounts() {
        self.counting.releaseBoardIfReplaced()
        for circuit in self.circuits.all { self.publish(circuit.counts) }
        let rateCircuits = self.circuits.withRateRules
        for circuit in rateCircuits {
            guard let cells = circuit.counts.madeCellPair?.board, !cells.isLost,
                circuit.counts.updateFailuresOfOthers(on: cells)
            else { continue }
            self.checkRate(of: circuit)
        }
        self.updateSeat()
        // If the counting thread could not be started, only this thread answers and decides. The counting thread is
        // asked for even without calls: it must already run when the next call ends, so that other processes see the
        // outcome in time.
        if let next = self.publishRateCounts() { self.countingThread.requestRound(in: next, self.publishingRound) }
    }
}
