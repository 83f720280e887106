import Synchronization

/// The rounds of the thread that counts: it publishes, answers questions, and decides. Nothing here waits.
extension StoreCore {
    /// Has the thread that counts publish successes as often as such a window needs.
    ///
    /// - Returns: false if this thread does not run: the system had no thread left, or the store is closed.
    @discardableResult
    func publishOften(_ window: Int64) -> Bool {
        self.countingThread.askForRound(in: Self.period(window), self.sharesRound)
    }

    var sharesRound: CountingThread.Round { { [weak self] in self?.publishShares() } }

    /// How soon to try again, where another thread of this process just does what this one is asked for.
    private static let pause = Duration.milliseconds(1)

    /// Publishes the successes of circuits with a failure-rate rule, answers the last question, and decides.
    ///
    /// - Returns: after how long to do so again; nil if there is no such circuit and no check.
    func publishShares() -> Duration? {
        // The store's thread also comes here now and then, and the caller that starts the thread that counts.
        guard !self.isForked, self.rounds.begin() else { return Self.pause }
        defer { self.rounds.end() }
        let bell = self.countingThread.bell
        let seats = bell.seats
        if let seats, seats.isMoved { seats.board.lose() }
        // Read before anything is published: the answer is that all is published that was counted until now.
        let asked = seats?.asked
        if let asked { bell.noteSeen(asked) }
        let board = self.counting.board
        var shortest: Int64?
        var (isUnderWay, lacksCells) = (false, false)
        let sharing = self.circuits.sharing
        let looksAtNews = self.rounds.looksAtNews(
            period: Self.period(sharing.compactMap(\.counts.shortestWindow).min() ?? .max))
        for circuit in sharing {
            guard let window = circuit.counts.shortestWindow else { continue }
            shortest = min(shortest ?? .max, window)
            Hook.reached("counts.publishing")
            switch circuit.counts.publishWithoutWaiting(on: board, clock: { self.clock.uptime }) {
            case .done: Hook.reached("counts.published")
            case .underWay: isUnderWay = true
            case .lacksCells: lacksCells = true
            }
            if looksAtNews { self.lookAtNews(of: circuit) }
        }
        if !isUnderWay { self.rounds.notePublished() }
        if let seats, let asked, seats.board === board, !isUnderWay, !lacksCells {
            Hook.reached("question.answered")
            bell.answer(asked, on: seats)
        }
        if shortest != nil, lacksCells || seats == nil || seats?.board !== board { self.prepareSoon() }
        let next = self.decideRates(seats, answered: bell.answered)
        return [
            shortest.map(Self.period), next.map { max(.zero, ContinuousClock.now.duration(to: $0)) },
            isUnderWay ? self.rounds.pauseAfterFailure() : nil,
        ].compactMap(\.self).min()
    }

    /// Has a circuit checked if other processes have counted failures, or if the successes that were published have
    /// given the window enough calls.
    private func lookAtNews(of circuit: SharedCircuit) {
        let counts = circuit.counts
        guard let cells = counts.madeCellPair?.board, !cells.isLost else { return }
        let hasFailures = counts.noteBadOfOthers(on: cells)
        guard !self.rateChecks.isChecked(circuit) else { return }
        let hasSuccesses = counts.hasUnjudgedSuccesses.exchange(false, ordering: .acquiring)
        guard hasFailures || hasSuccesses && counts.mayReachRate(on: cells, at: self.clock.uptime) else { return }
        self.checkRateSoon(of: circuit)
    }

    /// Has the thread that may wait check a rate.
    func checkRateSoon(of circuit: SharedCircuit) {
        guard !circuit.counts.isCheckWanted.exchange(true, ordering: .relaxed) else { return }
        self.countingJobs.run { [weak self] in self?.checkRate(of: circuit) }
    }

    // MARK: - What the thread needs

    /// Makes the cells and takes the seat that the thread that counts lacks, on a thread of their own: this may wait
    /// for other processes and for the disk.
    private func prepareSoon() {
        guard self.rounds.beginPreparation() else { return }
        let isStarted = StoreThread().start { [weak self] in
            guard let self else { return }
            self.rounds.endPreparation(isComplete: self.prepare())
            self.countingThread.askForRound(in: .zero, self.sharesRound)
        }
        if !isStarted { self.rounds.endPreparation(isComplete: false) }
    }

    /// Returns whether this process has a board and its seats, and cells for what it has counted.
    private func prepare() -> Bool {
        for circuit in self.circuits.sharing where !circuit.counts.isPublished {
            self.makeCellPair(for: circuit.counts)
        }
        return self.takeSeat(until: self.writer.deadline) != nil
    }

    /// The seats of the board, where this process takes one; nil without a board.
    func takeSeat(until deadline: Deadline) -> Seats? {
        let bell = self.countingThread.bell
        let worker = self.keys.presentWorker
        if let seats = bell.seats, seats.worker == worker, seats.board === self.counting.board,
            !self.mayBeSeated(seats)
        {
            return seats
        }
        guard !self.isForked, !self.isClosed, worker != 0, let board = self.board(until: deadline),
            let seats = try? board.takeSeat(
                for: worker, isAlive: self.answers.isAlive, making: self.room(until: deadline))
        else { return nil }
        bell.use(seats)
        // After `use`: a circuit that is registered just now adds its bit itself, or is among these.
        for circuit in self.circuits.sharing { seats.add(SeatTable.bit(of: circuit.name)) }
        return seats
    }

    /// Whether this worker has no seat, and one is free: all were taken, or somebody has overwritten its own.
    private func mayBeSeated(_ seats: Seats) -> Bool {
        if seats.isSeated { return false }
        let taken = seats.taken
        return taken.count < SeatTable.count || taken.values.contains { !self.answers.isAlive($0.worker) }
    }

    /// Notes on this worker's seat which circuits it uses now; takes a seat if it has none.
    func tidySeat() {
        guard let seats = self.countingThread.bell.seats else { return }
        seats.setMask { self.circuits.sharing.reduce(0) { $0 | SeatTable.bit(of: $1.name) } }
        if self.mayBeSeated(seats) { self.prepareSoon() }
    }

    func leaveSeat() {
        self.countingThread.bell.seats?.leave()
        self.countingThread.bell.use(nil)
    }
}
