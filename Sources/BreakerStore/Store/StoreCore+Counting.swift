#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts calls, and tells the file how many there were.
extension StoreCore {
    /// The lock file, and the owner that the database's board must name; nil while the database is not open.
    private func boardOwner() throws(BreakerStoreError) -> (lock: LockFile, owner: BoardHeader.Owner)? {
        guard let lock = self.answers.lockFile,
            let birth = try self.read({ (database) throws(BreakerStoreError) in try ClockRow.read(database)?.birth })
                ?? nil
        else { return nil }
        return (lock, BoardHeader.Owner(bootID: self.clock.host.bootID, birth: birth))
    }

    private func makeCounters(for counts: CircuitCounts) -> CircuitCounts.Counters {
        // Without a window no rule decides by the board. The caller of a failure has to wait for a commit, too, so this
        // wait is short.
        let deadline = counts.shortestWindow == nil ? Deadline(after: .milliseconds(50)) : self.writer.deadline
        let board = self.isForked ? nil : self.counting.board(until: deadline, openedBy: self.boardOwner)
        return counts.makeCounters(on: board) { (body) throws(BreakerStoreError) in
            try self.counting.grow(under: self.answers.lockFile, until: deadline, body)
        }
    }

    // MARK: - Ends of calls

    /// Counts a failing or slow end; returns the calls that its circuit's rules look at.
    ///
    /// May block as long as the file system does.
    ///
    /// - Parameter ownEpoch: the epoch of the circuit in memory, if memory has let the call through: then this
    ///   process's own calls decide.
    func count(
        _ end: BadEnd, of circuit: SharedCircuit, epoch: Int64, inMemory ownEpoch: Int64? = nil
    ) -> Circuit.CountedCalls {
        let counts = circuit.counts
        let counters = self.makeCounters(for: counts)
        counts.count(end, by: self.keys.presentWorker, epoch: epoch, ownEpoch: ownEpoch, in: counters) {
            self.clock.uptime
        }
        guard !end.isLate, let counter = ownEpoch == nil ? counters.deciding : counters.own else {
            return Circuit.CountedCalls()
        }
        var counted = Circuit.CountedCalls()
        let uptime = self.clock.uptime
        counts.whileNothingMoves { counted = counter.counted(at: uptime, epoch: ownEpoch ?? epoch) }
        return counted
    }

    /// Whether the circuit's counters are on the board already, so that to count takes additions alone.
    func hasBoard(for circuit: SharedCircuit) -> Bool {
        guard let board = self.counting.board else { return false }
        return circuit.counts.madeCounters?.shared?.board === board
    }

    /// Moves this process's counts of one circuit to the board, where all processes see them.
    func publishCounts(of name: String) {
        guard !self.isForked, let circuit = self.circuits[CircuitName(name)] else { return }
        self.publish(circuit.counts)
    }

    @discardableResult
    func publish(_ counts: CircuitCounts) -> Bool {
        Hook.reached("counts.publishing")
        defer { Hook.reached("counts.published") }
        return counts.publish(clock: { self.clock.uptime }, { self.makeCounters(for: counts) })
    }

    /// All calls of a circuit.
    func totals(of circuit: SharedCircuit) throws(BreakerStoreError) -> CallTotals {
        self.publish(circuit.counts)
        return try self.view { (database) throws(BreakerStoreError) in
            guard let row = try database.circuitRow(named: circuit.name) else { return CallTotals() }
            var stored = StoredCircuit(row: row)
            try stored.take(BoardView(of: self.file, database, self.clock), from: database)
            return CallTotals(stored.totals, stored.durations)
        }
    }

    /// Tells the file the numbers of the boards, at most every few seconds.
    func tellTalliesIfDue() {
        guard self.counting.beginTelling(at: self.clock.uptime) else { return }
        let worker = self.keys.presentWorker
        let tallies = self.counting.takeTallies(by: worker, reading: self.learn) + self.takeLeft()
        guard !tallies.isEmpty else { return }
        self.post(
            until: self.writer.deadline,
            then: { self.counting.told($0) },
            orElse: { _ in self.counting.notTold(tallies) },
            { (transaction) throws(BreakerStoreError) in
                // The file was opened anew meanwhile: under another id this process tells other numbers.
                guard transaction.worker.id == worker else {
                    throw BreakerStoreError(code: .busy, message: "the worker is another one now", path: self.file.path)
                }
                return try transaction.database.tell(tallies)
            }
        )
    }

    /// Reads a circuit whose calls were all counted while memory guarded; false if the file can't be read just now.
    func learn(_ circuit: SharedCircuit) -> Bool {
        do throws(BreakerStoreError) {
            if let row = try self.row(of: circuit.name) {
                // Another thread that has read the circuit meanwhile has read something newer.
                circuit.counts.know(birth: row.birth, row.circuit.rules, epoch: row.circuit.epoch) { false }
            } else {
                circuit.counts.noteMissing()
            }
            return true
        } catch {
            return error.isOfUnusableRow
        }
    }

    /// What processes that are gone have left on the board, and have not told the file.
    ///
    /// Their circuits may be such that this process does not use.
    private func takeLeft() -> [ToldCounts] {
        guard !self.isForked, let left = self.counting.lookForUntold(of: try? self.boardOwner()?.owner), !left.isEmpty,
            let board = self.counting.board(until: self.writer.deadline, openedBy: self.boardOwner),
            let names = try? self.read({ (database) throws(BreakerStoreError) in try database.names(ofBirths: left) })
        else { return [] }
        return self.counting.takeLeft(names, on: board)
    }

    /// Tells on the board that this worker can't use the file, and why, or that it can again.
    func tellHealthOnBoard() {
        guard !self.isForked, let board = self.counting.board else { return }
        var since: Int64?
        var reason: BreakerStoreError.Code?
        if case .degraded(let date, let error) = self.health {
            let age = max(0, self.clock.host.wallTime.timeIntervalSince(date))
            since = self.clock.uptime - Int64(saturating: age * 1_000_000)
            reason = error.code
        }
        board.setDegraded(self.keys.presentWorker, since: since, reason: reason, isAlive: self.answers.isAlive)
    }

    // MARK: - Now and then

    /// How often the store's thread looks around, in microseconds.
    static let lookInterval: Int64 = 1_000_000

    /// Moves the counts of the lanes, and looks at the windows; returns whether there were any counts to move.
    @discardableResult
    func tickCounts() -> Bool {
        self.counting.lookAround()
        var isAny = false
        for circuit in self.circuits.all {
            let hasCounted = self.publish(circuit.counts)
            isAny = isAny || hasCounted
        }
        // Also while no call is counted: other processes must see the next calls in time.
        let sharing = self.circuits.sharing
        for circuit in sharing { self.lookAtWindows(of: circuit) }
        // Where the thread that counts could not be started, nobody else does.
        self.endSuspicions()
        if let shortest = sharing.compactMap(\.counts.shortestWindow).min() { self.publishOften(shortest) }
        return isAny
    }
}
