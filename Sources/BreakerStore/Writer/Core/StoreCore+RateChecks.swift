import Synchronization

/// Two-phase check whether a circuit's failure rate, or its rate of slow calls, is reached; trips the circuit if so.
///
/// Failures are on the board at once, successes only when their process has published them. So the board may show a
/// rate as reached only because other processes have not published yet. The process that sees this records the sums and
/// asks all workers that use the circuit to publish. When they have answered, it compares the failures counted at the
/// start of the check with the successes published up to now.
///
/// A call that sees a rate reached calls `startRateCheckUnlessAlone` itself. What other processes did is seen by the
/// counting thread (`checkForChanges`), which may not wait, so `checkRateSoon` has another thread call `checkRate`; the
/// store's thread calls `checkRate` itself (`publishAllCounts`). The counting thread then decides (`decideRates`).
extension StoreCore {
    /// The longest period, in microseconds, between two publications of a circuit with a failure-rate rule.
    private static let maxPeriod: Int64 = 50_000

    /// How often successes are published: every 50 ms, or every tick of the window if that is shorter.
    static func period(_ window: Int64) -> Duration {
        .microseconds(min(Self.maxPeriod, WindowTicks(window: window).length))
    }

    // MARK: - Beginning a check

    /// Starts a check by asking all workers whether a failure has really reached a rate.
    ///
    /// If this process alone uses the circuit, no success of another process is missing on the board, and a question
    /// would only lose time. While a check of the circuit is under way, that check also covers this failure. Reads the
    /// file: never called by the counting thread.
    ///
    /// - Parameters:
    ///   - error: the policy's text of the failure, if there is one.
    ///   - mayWait: whether the caller may wait for a seat.
    /// - Returns: true if the caller has nothing left to do: a check was started or covers the failure, a thread is
    ///   about to start one, or the rate is not reached. False if the caller must trip at once: this process alone uses
    ///   the circuit, or no check could be decided, because there are no cells on a board, the board is lost, the rules
    ///   ask for no rate any more, or the counting thread does not run.
    func startRateCheckUnlessAlone(
        _ circuit: SharedCircuit, epoch: Epoch, error: String?, mayWait: Bool = false
    ) -> Bool {
        let counts = circuit.counts
        if self.rateChecks.applyFailure(of: circuit, in: epoch, counts.madeCellPair?.board) { return true }
        let period = Self.period(counts.shortestWindow ?? 0)
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.rateRules,
            self.publishOften(counts.shortestWindow ?? 0)
        else { return false }
        // Both are read before the windows are summed, so that nothing that is published in between is missed.
        let failuresBefore = cells.bad
        let successesBefore = cells.goodEver
        Hook.reached("check.begins")
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.rate(reachedBy: calls) != nil else {
            // A check that was about to ask again is over.
            self.rateChecks.endIfDue(of: circuit)
            return true
        }
        var seats = mayWait ? self.acquireSeat(until: self.writer.deadline) : self.countingThread.bell.seats
        // The question must go to the workers that count on this board.
        if seats?.board !== cells.board { seats = nil }
        // Read after the sums: each worker that has counted one of these calls registered the circuit before that.
        let lock = self.answers.lockFile
        let users: Set<WorkerID>?
        switch self.otherUsers(of: circuit.name, seats, lock) {
        case .none: return false
        case .workers(let workers): users = workers
        case .unknown: users = nil
        }
        if !mayWait {
            // A thread is about to sum the windows, and starts the check.
            if counts.isCheckWanted.load(ordering: .relaxed) { return true }
            if seats == nil {
                self.checkRateSoon(of: circuit)
                return true
            }
        }
        // Asked after the sums: a worker that answers has published all outcomes from before the sums.
        let question = RateQuestion(
            number: seats?.ask(), asker: self.keys.currentWorker, bit: SeatTable.bit(of: circuit.name),
            users: users, asked: .now, patience: RateQuestion.patience(period: period))
        self.rateChecks.begin(
            PendingRateCheck(
                circuit: circuit, cells: cells, rules: rules, epoch: epoch, error: error, bad: failuresBefore,
                goodBefore: successesBefore, calls: calls,
                // Not through `answers`: its lock is held while a thread reads the file. Weak: a check must not keep
                // the byte of a closed store locked.
                isAlive: { [weak lock] in lock?.isHeldByAnother(worker: $0) ?? true },
                check: RateCheck(question)),
            asking: question)
        if let seats { seats.ring(seats.taken.filter { question.concerns($0.value) }.keys) }
        self.countingThread.requestRound(in: .zero, self.publishingRound)
        return true
    }

    private enum OtherUsers {
        case none
        case workers(Set<WorkerID>)
        /// The file can't be read now, or too many workers are registered.
        case unknown
    }

    /// For how many registered workers without a seat the kernel is asked at most whether they are alive.
    private static let maxUnseatedAsked = 256

    /// Which other workers are alive and may count calls of a circuit, according to the file and to the seats.
    private func otherUsers(of name: String, _ seats: Seats?, _ lock: LockFile?) -> OtherUsers {
        guard let lock else { return .none }
        // Other workers may have locked their bytes in a lock file that has replaced this one.
        guard lock.isInPlace else { return .unknown }
        guard lock.hasOtherWorkers else { return .none }
        let own = self.keys.currentWorker
        let read = try? self.answers.read { (database) throws(BreakerStoreError) in
            try database.workers(using: name)
        }
        guard let users = read ?? nil, users.count < Database.maxUsersRead else { return .unknown }
        let others = Set(users).subtracting([own])
        let seated = seats.map { Array($0.taken.values) } ?? []
        let unseated = others.subtracting(seated.map(\.worker))
        guard unseated.count <= Self.maxUnseatedAsked else { return .unknown }
        let bit = SeatTable.bit(of: name)
        let seatedUsers = seated.filter { seat in
            seat.worker != own && (seat.mask & bit != 0 || others.contains(seat.worker))
                && lock.isHeldByAnother(worker: seat.worker)
        }
        let unseatedUsers = unseated.filter { lock.isHeldByAnother(worker: $0) }
        let found = unseatedUsers.union(seatedUsers.map(\.worker))
        return found.isEmpty ? .none : .workers(found)
    }

    /// Checks the rate of a circuit for another reason than this process's own failure.
    ///
    /// Other processes have counted failures, the windows have enough calls by now, or a question must be asked again.
    /// The process that counted the last failure may have been killed before it acted on the rate.
    func checkRate(of circuit: SharedCircuit) {
        circuit.counts.isCheckWanted.store(false, ordering: .relaxed)
        guard !self.isForked else { return }
        // A check that was about to ask again is over, unless it asks below.
        defer { self.rateChecks.endIfDue(of: circuit) }
        // This process may have made no call of the circuit for long, and still know an old epoch or an old window.
        self.refresh(circuit)
        self.publish(circuit.counts)
        self.makeCellPair(for: circuit.counts)
        let counts = circuit.counts
        let epoch = counts.epoch
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.rateRules else { return }
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.rate(reachedBy: calls) != nil,
            !self.startRateCheckUnlessAlone(circuit, epoch: epoch, error: nil, mayWait: true)
        else { return }
        self.postTrip(
            of: circuit, in: cells, epoch: epoch, error: nil, counted: calls, missing: 0,
            recount: { self.sums(of: circuit, since: epoch, in: cells) })
    }

    /// Reads the circuit's row, so that this process knows its current epoch and rules.
    private func refresh(_ circuit: SharedCircuit) {
        guard let gate = self.state.withLock({ $0.gates.first }) else { return }
        _ = try? self.readDecision(ReadContext(circuit: circuit, gate: gate))
    }

    private func sums(
        of circuit: SharedCircuit, since epoch: Epoch, in cells: CircuitCells
    ) -> Circuit.WindowCounts {
        circuit.counts.sums(inEpoch: epoch, of: cells) { self.clock.uptime }
    }

    /// Blocks until all pending checks are decided: mostly some milliseconds, at most 0.5 s.
    ///
    /// If a process exited earlier, a circuit would stay closed although a rate was reached.
    func waitForRateChecks() {
        let end = Deadline(after: .milliseconds(500))
        while !end.isOver, self.hasRateChecks { end.pause(atMost: .milliseconds(5)) }
    }

    private var hasRateChecks: Bool {
        !self.rateChecks.isEmpty
            || self.circuits.withRateRules.contains { $0.counts.isCheckWanted.load(ordering: .relaxed) }
    }

    // MARK: - Deciding

    /// Decides the checks whose questions are answered; called on the counting thread.
    ///
    /// - Parameter answered: the last question that this process has answered.
    /// - Returns: when to call this again; nil if no check is pending.
    func decideRates(_ seats: Seats?, answered: UInt64) -> ContinuousClock.Instant? {
        guard !self.rateChecks.isEmpty else { return nil }
        let taken = seats.map { Array($0.taken.values) } ?? []
        let steps = self.rateChecks.steps(
            { $1.missing(taken, own: answered, isAlive: $0.isAlive) }, at: .now)
        var next: ContinuousClock.Instant?
        for (pending, step) in steps {
            switch step {
            case .wait(until: let time): next = [next, time].compactMap(\.self).min()
            case .decide(let missing): self.decide(pending, missing: missing)
            case .askAgain: self.checkRateSoon(of: pending.circuit)
            }
        }
        return next
    }

    /// Second phase: trips the circuit if the rate is still reached, now that all workers have published.
    private func decide(_ pending: PendingRateCheck, missing: Int) {
        Hook.reached("check.ends")
        let counts = pending.circuit.counts
        guard counts.epoch == pending.epoch else { return self.rateChecks.end(pending) }
        guard !pending.cells.isLost else {
            self.rateChecks.end(pending)
            // The check may cover failures that were counted since (`RateChecks.applyFailure`).
            return self.checkRateSoon(of: pending.circuit)
        }
        let counted = pending.counted
        guard pending.rules.rate(reachedBy: counted) != nil, pending.rules == counts.rateRules,
            pending.cells === counts.madeCellPair?.board
        else {
            // Failures counted since, or new rules, may reach a rate all the same.
            let isSame =
                pending.cells.bad == pending.bad && pending.rules == counts.rateRules
                && pending.cells === counts.madeCellPair?.board
            self.rateChecks.applyNotReached(pending, hasFailures: !isSame, at: .now)
            // In time for the end of the rest that has just begun.
            self.countingThread.requestRound(in: RateCheck.shortestRest, self.publishingRound)
            return
        }
        self.rateChecks.applyReached(pending, at: .now)
        self.countingThread.requestRound(in: RateCheck.shortestRest, self.publishingRound)
        // Does not count again inside the transaction: successes that are published while it waits for other commits
        // must not undo the decision.
        self.postTrip(
            of: pending.circuit, in: pending.cells, epoch: pending.epoch, error: pending.error, counted: counted,
            missing: missing, recount: { pending.cells.isLost ? Circuit.WindowCounts() : counted })
    }

    // MARK: - Tripping

    /// Trips the circuit on the store's thread, or in the in-memory fallback if the trip can't be committed.
    ///
    /// - Parameters:
    ///   - counted: the calls that have reached a rate.
    ///   - missing: how many workers did not answer.
    ///   - recount: counts these calls again; called inside the transaction.
    private func postTrip(
        of circuit: SharedCircuit, in cells: CircuitCells, epoch: Epoch, error: String?,
        counted: Circuit.WindowCounts, missing: Int, recount: @escaping @Sendable () -> Circuit.WindowCounts
    ) {
        self.post(
            until: self.writer.deadline,
            orElse: { _ in
                circuit.reachedRateInMemory(
                    by: counted, error: error, at: self.clock.now, offset: self.clock.offset)
            },
            { (transaction) throws(BreakerStoreError) in
                let error = Self.newestError(error, cells, at: self.clock.uptime)
                try self.trip(
                    circuit, by: recount(), of: cells, epoch: epoch, error: error, missing: missing, transaction)
            })
    }

    /// Trips the circuit if a rate of its calls is still reached; the caller commits.
    func tripByRate(
        _ circuit: SharedCircuit, epoch: Epoch, error: String?, _ transaction: Transaction
    ) throws(BreakerStoreError) {
        guard let cells = circuit.counts.madeCellPair?.deciding else { return }
        try self.trip(
            circuit, by: self.sums(of: circuit, since: epoch, in: cells), of: cells, epoch: epoch, error: error,
            missing: 0, transaction)
    }

    private func trip(
        _ circuit: SharedCircuit, by counted: Circuit.WindowCounts, of cells: CircuitCells, epoch: Epoch,
        error: String?, missing: Int, _ transaction: Transaction
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        _ = try transaction.change(circuit.name, own: circuit.registeredConfig) {
            (stored, moment, _) -> Circuit.ReportAction in
            // If another process has just registered another window, the next outcome is judged by that window.
            guard CountingRules(stored.rules).hasWindows(of: cells.rules),
                let reached = stored.rules.rate(reachedBy: counted)
            else { return .counted }
            let workers = cells.reporters(of: reached.subject, inGeneration: stored.windowGeneration, at: uptime)
            let reporters = FailureList(workers.map { Circuit.Failure(at: moment.now, worker: $0, sequence: 0) })
            return stored.reachedRate(
                by: counted, epoch: epoch, error: error, missing: missing, at: moment, among: reporters,
                isAlive: transaction.isAlive)
        }
    }

    /// The error text of the last failure of any worker.
    ///
    /// The board's text counts, unless it is older than the windows, or only the beginning of this process's own text.
    private static func newestError(_ own: String?, _ cells: CircuitCells, at uptime: Uptime) -> String? {
        let window = max(cells.rules.failureWindow ?? 0, cells.rules.slowWindow ?? 0)
        guard let last = cells.lastError, uptime.microseconds(since: last.uptime).magnitude <= UInt64(max(0, window))
        else { return own }
        return own.flatMap { $0.hasPrefix(last.text) ? $0 : nil } ?? last.text
    }
}
