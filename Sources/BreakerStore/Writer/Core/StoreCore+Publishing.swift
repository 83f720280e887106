import Synchronization

/// The rounds of the counting thread: it publishes counts, answers questions, and decides rate checks.
///
/// Nothing in a round waits.
extension StoreCore {
    /// Has the counting thread publish successes as often as a window of this length needs.
    ///
    /// - Returns: false if that thread does not run: the system had no thread left, or the store is closed.
    @discardableResult
    func publishOften(_ window: Int64) -> Bool {
        self.countingThread.requestRound(in: Self.period(window), self.publishingRound)
    }

    var publishingRound: CountingThread.Round { { [weak self] in self?.publishRateCounts() } }

    /// How soon to try again while another thread of this process runs a round.
    private static let retryPause = Duration.milliseconds(1)

    /// Runs one round: publishes the successes of circuits with a failure-rate rule, answers the last question, and
    /// decides.
    ///
    /// - Returns: after how long the next round is due; nil if there is no such circuit and no check.
    func publishRateCounts() -> Duration? {
        // The store's thread runs rounds, too, and so does the caller that starts the counting thread. In a child of
        // `fork` the pause means nothing: no counting thread runs there.
        guard !self.isForked, self.rounds.begin() else { return Self.retryPause }
        defer { self.rounds.end() }
        let bell = self.countingThread.bell
        let seats = bell.seats
        // Another board has replaced this one, so nothing that is counted here counts any more.
        if let seats, seats.isMoved { seats.board.lose() }
        // Read first: the answer means that everything counted until now is published.
        let question = seats?.asked
        // Even if this round can't answer the question yet, it must not end the thread's next sleep again.
        if let question { bell.setSeen(question) }
        let board = self.counting.board
        var shortestWindow: Int64?
        var (isUnderWay, lacksCells) = (false, false)
        let rateCircuits = self.circuits.withRateRules
        let checksForChanges = self.rounds.startChangeCheckIfDue(
            period: Self.period(rateCircuits.compactMap(\.counts.shortestWindow).min() ?? .max))
        for circuit in rateCircuits {
            guard let window = circuit.counts.shortestWindow else { continue }
            shortestWindow = min(shortestWindow ?? .max, window)
            Hook.reached("counts.publishing")
            switch circuit.counts.publishWithoutWaiting(on: board, clock: { self.clock.uptime }) {
            case .done: Hook.reached("counts.published")
            case .underWay: isUnderWay = true
            case .lacksCells: lacksCells = true
            }
            if checksForChanges { self.checkForChanges(of: circuit) }
        }
        if !isUnderWay { self.rounds.resetPublishTries() }
        if let seats, let question, seats.board === board, !isUnderWay, !lacksCells {
            Hook.reached("question.answered")
            bell.answer(question, on: seats)
        }
        if shortestWindow != nil, lacksCells || seats == nil || seats?.board !== board { self.prepareSoon() }
        let next = self.decideRates(seats, answered: bell.answered)
        return [
            shortestWindow.map(Self.period), next.map { max(.zero, ContinuousClock.now.duration(to: $0)) },
            isUnderWay ? self.rounds.countFailedTry() : nil,
        ].compactMap(\.self).min()
    }

    /// Requests a rate check if other processes have counted failures, or if published successes have given the window
    /// its minimum of calls.
    private func checkForChanges(of circuit: SharedCircuit) {
        let counts = circuit.counts
        guard let cells = counts.madeCellPair?.board, !cells.isLost else { return }
        let hasFailures = counts.updateFailuresOfOthers(on: cells)
        guard !self.rateChecks.hasCheck(of: circuit) else { return }
        let hasSuccesses = counts.hasUncheckedSuccesses.exchange(false, ordering: .acquiring)
        guard hasFailures || hasSuccesses && counts.mayReachRate(on: cells, at: self.clock.uptime) else { return }
        self.checkRateSoon(of: circuit)
    }

    /// Has the thread of `countingJobs`, which may wait, check a rate.
    func checkRateSoon(of circuit: SharedCircuit) {
        guard !circuit.counts.isCheckWanted.exchange(true, ordering: .relaxed) else { return }
        self.countingJobs.run { [weak self] in self?.checkRate(of: circuit) }
    }

    // MARK: - Preparation

    /// Prepares the cells and the seat that the counting thread lacks.
    ///
    /// On a thread of its own, because this may wait for other processes and for the disk.
    private func prepareSoon() {
        guard self.rounds.beginPreparation() else { return }
        let isStarted = StoreThread().start { [weak self] in
            guard let self else { return }
            self.rounds.endPreparation(isComplete: self.prepare())
            self.countingThread.requestRound(in: .zero, self.publishingRound)
        }
        if !isStarted { self.rounds.endPreparation(isComplete: false) }
    }

    /// Makes the missing cells and acquires a seat; returns whether this process has a board with its seats now.
    private func prepare() -> Bool {
        for circuit in self.circuits.withRateRules where !circuit.counts.isPublished {
            self.makeCellPair(for: circuit.counts)
        }
        return self.acquireSeat(until: self.writer.deadline) != nil
    }

    /// Acquires a seat on the board, and returns the seats; nil without a board.
    func acquireSeat(until deadline: Deadline) -> Seats? {
        let bell = self.countingThread.bell
        let worker = self.keys.currentWorker
        if let seats = bell.seats, seats.worker == worker, seats.board === self.counting.board,
            !self.canAcquireSeat(seats)
        {
            return seats
        }
        guard !self.isForked, !self.isClosed, worker != 0, let board = self.openBoard(until: deadline),
            let seats = try? board.acquireSeat(
                for: worker, isAlive: self.answers.isAlive, making: self.room(until: deadline))
        else { return nil }
        bell.use(seats)
        // After `use`: a circuit that is registered concurrently either adds its own bit or is among these.
        for circuit in self.circuits.withRateRules { seats.add(SeatTable.bit(of: circuit.name)) }
        return seats
    }

    /// Whether this worker has no seat, and one is free.
    ///
    /// It has none if all were taken before, or if another process has overwritten its own.
    private func canAcquireSeat(_ seats: Seats) -> Bool {
        if seats.isSeated { return false }
        let taken = seats.taken
        return taken.count < SeatTable.count || taken.values.contains { !self.answers.isAlive($0.worker) }
    }

    /// Writes to this worker's seat which circuits it uses now; if it has no seat, has one acquired.
    func updateSeat() {
        guard let seats = self.countingThread.bell.seats else { return }
        seats.setMask { self.circuits.withRateRules.reduce(0) { $0 | SeatTable.bit(of: $1.name) } }
        if self.canAcquireSeat(seats) { self.prepareSoon() }
    }

    func leaveSeat() {
        self.countingThread.bell.seats?.leave()
        self.countingThread.bell.use(nil)
    }
}
