import Synchronization

/// Checks whether a circuit's failure rate, or the rate of its slow calls, is reached, and opens the circuit.
///
/// Failures are on the board at once, successes only when their process has published them. So the board may show a
/// rate as reached only because other processes have not published yet. The process that sees it keeps the sums, asks
/// all workers that use the circuit to publish, and compares the failures of then with the successes of then and since.
extension StoreCore {
    /// The longest time between two publications of successes of circuits with a failure-rate rule, in microseconds.
    ///
    /// The period is 50 ms, or a tick of the shortest window if that is shorter.
    private static let longestPeriod: Int64 = 50_000

    static func period(_ window: Int64) -> Duration {
        .microseconds(min(Self.longestPeriod, WindowTicks(window: window).length))
    }

    // MARK: - Beginning a check

    /// Asks all workers whether a failure has really reached a rate, unless the caller must trip the circuit at once.
    ///
    /// If this process alone uses the circuit, no success of another process is missing on the board, and a question
    /// would only lose time. While a check of the circuit is under way, that check looks at this failure, too. Reads
    /// the file: never called by the thread that counts.
    ///
    /// - Parameters:
    ///   - error: the policy's text of the failure, if there is one.
    ///   - mayWait: whether the caller may wait for a seat.
    /// - Returns: false if the caller must trip at once: this process alone uses the circuit, or nobody would decide,
    ///   as the board is lost or the thread that counts does not run.
    func askUnlessAlone(
        _ circuit: SharedCircuit, epoch: Int64, error: String?, mayWait: Bool = false
    ) -> Bool {
        let counts = circuit.counts
        if self.rateChecks.noteFailure(of: circuit, in: epoch, counts.madeCellPair?.board) { return true }
        let period = Self.period(counts.shortestWindow ?? 0)
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.sharingRules,
            self.publishOften(counts.shortestWindow ?? 0)
        else { return false }
        // Both are read before the windows are summed, so that nothing that is published meanwhile is missed.
        let bad = cells.bad
        let good = cells.goodEver
        Hook.reached("check.begins")
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.share(reachedBy: calls) != nil else {
            self.rateChecks.endIfDue(of: circuit)
            return true
        }
        var seats = mayWait ? self.takeSeat(until: self.writer.deadline) : self.countingThread.bell.seats
        // Who counts on this board is asked on this board.
        if seats?.board !== cells.board { seats = nil }
        // Read after the sums: a worker that has counted one of these calls had registered the circuit before.
        let lock = self.answers.lockFile
        let users: Set<Int64>?
        switch self.company(of: circuit.name, seats, lock) {
        case .nobody: return false
        case .workers(let workers): users = workers
        case .unknown: users = nil
        }
        if !mayWait {
            // A thread is about to sum the windows.
            if counts.isCheckWanted.load(ordering: .relaxed) { return true }
            if seats == nil {
                self.checkRateSoon(of: circuit)
                return true
            }
        }
        // Asked after the sums: who answers this question has published all that ended before them.
        let question = RateQuestion(
            number: seats?.ask(), asker: self.keys.presentWorker, bit: SeatTable.bit(of: circuit.name),
            users: users, asked: .now, patience: RateQuestion.patience(period: period))
        self.rateChecks.begin(
            PendingRateCheck(
                circuit: circuit, cells: cells, rules: rules, epoch: epoch, error: error, bad: bad,
                goodBefore: good, calls: calls,
                // Not `answers`, whose lock is held while a thread reads the file; and a store that is closed must not
                // keep its worker's byte because of a check.
                isAlive: { [weak lock] in lock?.isHeldByAnother(worker: $0) ?? true },
                check: RateCheck(question)),
            asking: question)
        if let seats { seats.ring(seats.taken.filter { question.concerns($0.value) }.keys) }
        self.countingThread.askForRound(in: .zero, self.sharesRound)
        return true
    }

    private enum Company {
        case nobody
        case workers(Set<Int64>)
        /// The file can't be read now, or too many workers are registered.
        case unknown
    }

    /// The most registered workers without a seat of which the kernel is asked whether they live.
    private static let mostUnseatedAsked = 256

    /// Which other living workers may count calls of a circuit, according to the file and to the seats.
    private func company(of name: String, _ seats: Seats?, _ lock: LockFile?) -> Company {
        guard let lock else { return .nobody }
        // The others may have locked their bytes in a lock file that has taken this one's place.
        guard lock.isInPlace else { return .unknown }
        guard lock.hasOtherWorkers else { return .nobody }
        let own = self.keys.presentWorker
        let read = try? self.answers.read { (database) throws(BreakerStoreError) in
            try database.workers(using: name)
        }
        guard let users = read ?? nil, users.count < Database.mostUsersRead else { return .unknown }
        let others = Set(users).subtracting([own])
        let seated = seats.map { Array($0.taken.values) } ?? []
        let unseated = others.subtracting(seated.map(\.worker))
        guard unseated.count <= Self.mostUnseatedAsked else { return .unknown }
        let bit = SeatTable.bit(of: name)
        let concerned = seated.filter { seat in
            seat.worker != own && (seat.mask & bit != 0 || others.contains(seat.worker))
                && lock.isHeldByAnother(worker: seat.worker)
        }
        let living = unseated.filter { lock.isHeldByAnother(worker: $0) }
        return concerned.isEmpty && living.isEmpty ? .nobody : .workers(living.union(concerned.map(\.worker)))
    }

    /// Checks the rate of a circuit of which there is news that this process has not counted itself: other processes
    /// have counted failures, the windows have enough calls by now, or a question is to be asked again.
    ///
    /// The process that counted the last failure may have been killed before it acted on the rate.
    func checkRate(of circuit: SharedCircuit) {
        circuit.counts.isCheckWanted.store(false, ordering: .relaxed)
        guard !self.isForked else { return }
        defer { self.rateChecks.endIfDue(of: circuit) }
        // A process without calls of the circuit may still know an old epoch or an old window.
        self.refresh(circuit)
        self.publish(circuit.counts)
        self.makeCellPair(for: circuit.counts)
        let counts = circuit.counts
        let epoch = counts.epoch
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.sharingRules else { return }
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.share(reachedBy: calls) != nil,
            !self.askUnlessAlone(circuit, epoch: epoch, error: nil, mayWait: true)
        else { return }
        self.trip(circuit, cells, rules, epoch, nil, calls, missing: 0) {
            self.sums(of: circuit, since: epoch, in: cells)
        }
    }

    private func refresh(_ circuit: SharedCircuit) {
        guard let gate = self.guarded.withLock({ $0.gates.first }) else { return }
        _ = try? self.look(Asker(circuit: circuit, gate: gate))
    }

    private func sums(
        of circuit: SharedCircuit, since epoch: Int64, in cells: CircuitCells
    ) -> Circuit.WindowCounts {
        circuit.counts.sums(since: epoch, of: cells) { self.clock.uptime }
    }

    /// Blocks until the thread that counts has decided what was asked: mostly some milliseconds, at most 0.5 s.
    ///
    /// A process that left earlier would leave a circuit closed although a rate was reached.
    func waitForRateChecks() {
        let end = Deadline(after: .milliseconds(500))
        while !end.isOver, self.hasRateChecks { end.pause(atMost: .milliseconds(5)) }
    }

    private var hasRateChecks: Bool {
        !self.rateChecks.isEmpty
            || self.circuits.sharing.contains { $0.counts.isCheckWanted.load(ordering: .relaxed) }
    }

    // MARK: - Deciding

    /// Decides the checks whose questions are answered, on the thread that counts.
    ///
    /// - Parameter answered: the last question that this process has answered.
    /// - Returns: when to look again; nil if no check waits for anything.
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

    /// Opens the circuit if the rate is reached, now that all workers have published the successes of then.
    private func decide(_ pending: PendingRateCheck, missing: Int) {
        Hook.reached("check.ends")
        let counts = pending.circuit.counts
        guard counts.epoch == pending.epoch else { return self.rateChecks.end(pending) }
        guard !pending.cells.isLost else {
            self.rateChecks.end(pending)
            // The check may have promised to look at failures that have come since.
            return self.checkRateSoon(of: pending.circuit)
        }
        let counted = pending.counted
        guard pending.rules.share(reachedBy: counted) != nil, pending.rules == counts.sharingRules,
            pending.cells === counts.madeCellPair?.board
        else {
            // Failures that have come since, or new rules, may reach a rate all the same.
            let isSame =
                pending.cells.bad == pending.bad && pending.rules == counts.sharingRules
                && pending.cells === counts.madeCellPair?.board
            self.rateChecks.noteNotReached(pending, hasFailures: !isSame, at: .now)
            // Looks at the rest that has just begun.
            self.countingThread.askForRound(in: RateCheck.shortestRest, self.sharesRound)
            return
        }
        self.rateChecks.noteReached(pending, at: .now)
        self.countingThread.askForRound(in: RateCheck.shortestRest, self.sharesRound)
        // Does not count again inside the transaction: successes that came while it waited for other commits must not
        // undo the decision.
        self.trip(
            pending.circuit, pending.cells, pending.rules, pending.epoch, pending.error, counted, missing: missing
        ) { pending.cells.isLost ? Circuit.WindowCounts() : counted }
    }

    // MARK: - Tripping

    /// Opens the circuit on the store's thread, or in memory if the trip can't be committed.
    ///
    /// - Parameters:
    ///   - counted: the calls that have reached a rate.
    ///   - missing: how many workers did not answer.
    ///   - recount: counts these calls again, inside the transaction.
    private func trip(
        _ circuit: SharedCircuit, _ cells: CircuitCells, _ rules: Rules, _ epoch: Int64, _ error: String?,
        _ counted: Circuit.WindowCounts, missing: Int, recount: @escaping @Sendable () -> Circuit.WindowCounts
    ) {
        self.post(
            until: self.writer.deadline,
            orElse: { _ in
                circuit.shareReachedInMemory(
                    by: counted, error: error, at: self.clock.now, offset: self.clock.offset)
            },
            { (transaction) throws(BreakerStoreError) in
                let error = Self.newest(error, cells, at: self.clock.uptime)
                try self.trip(
                    circuit, by: recount(), of: cells, epoch: epoch, error, missing: missing, transaction)
            })
    }

    /// Opens the circuit if a rate of its calls is still reached; the caller commits.
    func tripByShare(
        _ circuit: SharedCircuit, epoch: Int64, error: String?, _ transaction: Transaction
    ) throws(BreakerStoreError) {
        guard let cells = circuit.counts.madeCellPair?.deciding else { return }
        try self.trip(
            circuit, by: self.sums(of: circuit, since: epoch, in: cells), of: cells, epoch: epoch, error,
            missing: 0, transaction)
    }

    private func trip(
        _ circuit: SharedCircuit, by counted: Circuit.WindowCounts, of cells: CircuitCells, epoch: Int64,
        _ error: String?, missing: Int, _ transaction: Transaction
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        _ = try transaction.change(circuit.name, own: circuit.registeredConfig) {
            (stored, moment, _) -> Circuit.ReportAction in
            // If another process has just registered another window, the next end decides by that window.
            guard CountingRules(stored.rules).hasWindows(of: cells.rules),
                let share = stored.rules.share(reachedBy: counted)
            else { return .counted }
            let workers = cells.reporters(of: share.subject, inGeneration: stored.windowGeneration, at: uptime)
            let reporters = FailureList(workers.map { Circuit.Failure(at: moment.now, worker: $0, sequence: 0) })
            return stored.shareReached(
                by: counted, epoch: epoch, error: error, missing: missing, at: moment, among: reporters,
                isAlive: transaction.isAlive)
        }
    }

    /// The text of the last failure, of whichever worker: what the board has, unless it is older than the windows, or
    /// only the beginning of the text that this process has.
    private static func newest(_ own: String?, _ cells: CircuitCells, at uptime: Int64) -> String? {
        let window = max(cells.rules.failureWindow ?? 0, cells.rules.slowWindow ?? 0)
        guard let last = cells.lastError, uptime.subtractingSaturating(last.uptime).magnitude <= UInt64(max(0, window))
        else { return own }
        return own.flatMap { $0.hasPrefix(last.text) ? $0 : nil } ?? last.text
    }
}
