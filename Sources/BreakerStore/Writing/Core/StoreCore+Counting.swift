import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts calls, and saves the counts in the file.
extension StoreCore {
    /// The board; opens it if the time for a try has come.
    func board(until deadline: Deadline) -> Board? {
        self.counting.board(
            until: deadline, under: { self.answers.lockFile },
            of: { () throws(BreakerStoreError) in
                // Another file may have taken the path, and another process may have made that file's board.
                guard self.answers.isInPlace else { return nil }
                return try self.read { (database) throws(BreakerStoreError) in try ClockRow.read(database)?.incarnation
                }
            })
    }

    @discardableResult
    func makeCellPair(for counts: CircuitCounts) -> CircuitCounts.CellPair {
        // Without a rule about shares the board has only totals: waits 50 ms at most, because the caller of a failed
        // call also waits for a commit. With such a rule the counts decide: waits for `busyTimeout`.
        let deadline = counts.shortestWindow == nil ? Deadline(after: .milliseconds(50)) : self.writer.deadline
        let board = self.isForked ? nil : self.board(until: deadline)
        if let pair = counts.pair(on: board) { return pair }
        return counts.makeCellPair(on: board, making: self.room(until: deadline))
    }

    func room(until deadline: Deadline) -> Board.Room {
        Board.Room(
            alone: { (body) throws(BreakerStoreError) in
                try self.counting.alone(under: self.answers.lockFile, until: deadline, body)
            },
            mayGrow: { self.counting.mayGrow },
            incarnations: { try? self.view { (database) throws(BreakerStoreError) in try database.incarnations() } },
            failed: { self.counting.noteNoRoom() })
    }

    // MARK: - Ends of calls

    /// Counts a bad end; returns the calls in the windows of the circuit's rules.
    ///
    /// May block as long as the file system does.
    func count(
        _ end: CountedFailure, of circuit: SharedCircuit, _ origin: CircuitCounts.Origin,
        isPresent: () -> Bool = { false }
    ) -> Circuit.WindowCounts {
        circuit.counts.count(
            end, of: origin, by: self.keys.presentWorker, in: self.makeCellPair(for: circuit.counts),
            clock: { self.clock.uptime }, isPresent: isPresent)
    }

    /// Whether the circuit's cells are on the board already, so that counting takes only additions.
    func hasBoard(for circuit: SharedCircuit) -> Bool {
        guard let board = self.counting.board else { return false }
        return circuit.counts.madeCellPair?.board?.board === board
    }

    /// Publishes this process's counts of one circuit to the board, where all processes see them.
    func publishCounts(of name: String) {
        guard !self.isForked, let circuit = self.circuits[CircuitName(name)] else { return }
        self.publish(circuit.counts)
    }

    func publish(_ counts: CircuitCounts) {
        Hook.reached("counts.publishing")
        defer { Hook.reached("counts.published") }
        counts.publish(clock: { self.clock.uptime }, { self.makeCellPair(for: counts) })
    }

    /// Publishes this process's counts of a circuit, and adds up all its calls.
    func totals(of circuit: SharedCircuit) throws(BreakerStoreError) -> CallTotals {
        self.publish(circuit.counts)
        return try self.view { (database) throws(BreakerStoreError) in
            let board = BoardView(of: self.file, incarnation: try ClockRow.read(database)?.incarnation, self.clock)
            let found = try database.circuit(named: circuit.name, failures: 0, countedOn: board)
            return found.map { CallTotals($0.totals, $0.durations) } ?? CallTotals()
        }
    }

    /// The board, unless no process has made one; opens it if the time for a try has come.
    private func boardThatIsThere(until deadline: Deadline) -> Board? {
        if self.isForked || FoundFile(self.file.board) == nil { return nil }
        return self.board(until: deadline)
    }

    /// Saves the totals in a commit of its own, if no other commit has taken them along for ten minutes.
    func saveTalliesIfDue() {
        guard self.counting.isSaveDue(at: self.clock.uptime) else { return }
        let worker = self.keys.presentWorker
        // Dead processes may have left counts on a board that this process has not needed yet.
        _ = self.boardThatIsThere(until: self.writer.deadline)
        let unsaved = self.counting.takeUnsaved(
            on: .pauseIsOver, by: worker, atMost: StoreCounts.mostAtOnce, reading: self.learn)
        if !unsaved.isEmpty { self.submit(self.ticket(saving: unsaved, by: worker)) }
    }

    /// A ticket that saves totals along with a commit that happens anyway; nil if there are none, or none are due.
    func ticketToSaveAlong(by worker: Int64) -> (any AnyTicket)? {
        guard self.counting.maySaveAlong(at: self.clock.uptime) else { return nil }
        let unsaved = self.counting.takeUnsaved(
            on: .otherCommit, by: worker, atMost: StoreCounts.mostAlong,
            // Within a transaction nothing else is read.
            reading: { _ in false })
        return unsaved.isEmpty ? nil : self.ticket(saving: unsaved, by: worker)
    }

    private func ticket(saving unsaved: StoreCounts.Unsaved, by worker: Int64) -> Ticket<Void> {
        Ticket(
            deadline: self.writer.deadline, then: { self.counting.noteSaved(unsaved) },
            orElse: { _ in self.counting.noteNotSaved() },
            { (transaction) throws(BreakerStoreError) in
                // If the file was opened again meanwhile, this process may be another worker, with other counts.
                guard transaction.worker.id == worker else {
                    throw BreakerStoreError(code: .busy, message: "the worker is another one now", path: self.file.path)
                }
                try transaction.database.saveTallies(unsaved.tallies)
            })
    }

    /// Reads a circuit whose calls were all counted while memory guarded; false if the file can't be read now.
    func learn(_ circuit: SharedCircuit) -> Bool {
        do throws(BreakerStoreError) {
            if let row = try self.row(of: circuit.name) {
                // Taken over only if the circuit was never read: `{ false }` refuses all else. Another thread's reading
                // is newer.
                circuit.counts.know(
                    (row.id, row.incarnation), row.circuit.rules, epoch: row.circuit.epoch,
                    windowGeneration: row.circuit.windowGeneration
                ) { false }
            } else {
                circuit.counts.noteMissing()
            }
            return true
        } catch {
            return error.isOfUnusableRow
        }
    }

    /// Writes on the board that this worker can't use the file, and why, or that it can again.
    func noteHealthOnBoard() {
        guard !self.isForked else { return }
        let worker = self.keys.presentWorker
        if case .degraded(let date, let error) = self.health {
            let age = max(0, self.clock.host.wallTime.timeIntervalSince(date))
            let since = self.clock.uptime.subtractingSaturating(Int64(saturating: age * 1_000_000))
            guard let board = self.counting.board else { return }
            self.isMarkedDegraded.store(true, ordering: .relaxed)
            board.setDegraded(worker, since: since, reason: error.code, isAlive: self.answers.isAlive)
        } else if self.isMarkedDegraded.load(ordering: .relaxed) {
            // The board of a file that was opened again is not open yet. Each look-around tries again.
            guard let board = self.boardThatIsThere(until: Deadline(after: .milliseconds(50))) else { return }
            board.setDegraded(worker, since: nil, isAlive: self.answers.isAlive)
            self.isMarkedDegraded.store(false, ordering: .relaxed)
        }
    }

    // MARK: - Now and then

    /// Publishes the counts of the lanes, and acts on shares that are reached.
    func publishAllCounts() {
        self.counting.lookAround()
        for circuit in self.circuits.all { self.publish(circuit.counts) }
        let sharing = self.circuits.sharing
        for circuit in sharing {
            guard let cells = circuit.counts.madeCellPair?.board, !cells.isLost,
                circuit.counts.noteBadOfOthers(on: cells)
            else { continue }
            self.checkRate(of: circuit)
        }
        self.tidySeat()
        // If the thread that counts could not be started, only this thread answers and decides. It is asked for even
        // without calls: it must already run when the next call ends, so that other processes see the end in time.
        if let next = self.publishShares() { self.countingThread.askForRound(in: next, self.sharesRound) }
    }
}
