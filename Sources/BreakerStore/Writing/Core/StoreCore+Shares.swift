import Synchronization

/// Decides whether a share of a circuit's calls failed or was slow, and opens the circuit.
///
/// Bad ends are on the board at once, good ends only when their process has published them. So the board may show a
/// share as reached only because other processes have not published yet. This process then only suspects the share, and
/// keeps the sums. Two periods later this process compares the bad ends of then with the good ends of then and of
/// since.
extension StoreCore {
    /// The longest time between two publications of good ends of circuits with a rule about a share, in microseconds.
    ///
    /// The period is 50 ms, or a tick of the shortest window if that is shorter.
    private static let longestPeriod: Int64 = 50_000

    private static func period(_ window: Int64) -> Duration {
        .microseconds(min(Self.longestPeriod, WindowTicks(window: window).length))
    }

    // MARK: - The thread that counts

    /// Has the thread that counts publish good ends as often as such a window needs, and check the shares.
    ///
    /// - Returns: false if this thread does not run: the system had no thread left, or the store is closed.
    @discardableResult
    func publishOften(_ window: Int64) -> Bool {
        self.countingThread.askForRound(in: Self.period(window), self.sharesRound)
    }

    /// The repeated work of the thread that counts.
    var sharesRound: CountingThread.Round { { [weak self] in self?.publishShares() } }

    /// Publishes the good ends of circuits with a rule about a share, and ends suspicions.
    ///
    /// - Returns: after how long to do so again; nil if there is no such circuit and no suspicion.
    private func publishShares() -> Duration? {
        var shortest: Int64?
        for circuit in self.circuits.sharing {
            guard let window = circuit.counts.shortestWindow else { continue }
            shortest = min(shortest ?? .max, window)
            self.publish(circuit.counts)
            self.actOnShares(of: circuit)
        }
        self.endSuspicions()
        let nextEnd = self.suspicions.firstEnd.map { ContinuousClock.now.duration(to: $0) }
        return [shortest.map(Self.period), nextEnd].compactMap(\.self).min()
    }

    /// Acts on a share that is reached, if other processes have added bad ends since this process last checked.
    ///
    /// The process that counted the last bad end may have been killed before it acted on the share.
    func actOnShares(of circuit: SharedCircuit) {
        guard !self.isForked, let cells = circuit.counts.madeCellPair?.board, !cells.isLost,
            circuit.counts.noteBadOfOthers(on: cells)
        else { return }
        // A process without calls of the circuit may still know an old epoch or an old window.
        self.refresh(circuit)
        self.makeCellPair(for: circuit.counts)
        self.suspectOrTrip(circuit, error: nil)
    }

    private func refresh(_ circuit: SharedCircuit) {
        guard let gate = self.guarded.withLock({ $0.gates.first }) else { return }
        _ = try? self.look(Asker(circuit: circuit, gate: gate))
    }

    // MARK: - Suspicions

    /// Begins a suspicion if a bad end has reached a share, unless the caller must trip the circuit at once.
    ///
    /// If this process alone uses the circuit, no good end of another process is missing on the board, and a suspicion
    /// would only lose time. A share that is suspected already gets no second suspicion.
    ///
    /// - Parameter error: the policy's text of the failure; called only for a new suspicion.
    /// - Returns: false if the caller must trip at once: this process alone uses the circuit, or a suspicion could not
    ///   be ended, as the board is lost or the thread that counts does not run.
    func suspectUnlessAlone(_ circuit: SharedCircuit, epoch: Int64, error: () -> String?) -> Bool {
        let counts = circuit.counts
        if self.suspicions.isSuspected(circuit, in: epoch) { return true }
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.sharingRules,
            self.hasCompany(circuit.name), self.publishOften(counts.shortestWindow ?? 0)
        else { return false }
        // Read before the sums of the windows, so that no good end that is published meanwhile is missed.
        let good = cells.goodEver
        Hook.reached("suspicion.begins")
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.share(reachedBy: calls) != nil else { return true }
        let wait = Self.period(counts.shortestWindow ?? 0) * 2
        self.suspicions.begin(
            Suspicion(
                circuit: circuit, cells: cells, rules: rules, epoch: epoch, error: error(), calls: calls,
                goodBefore: good, end: .now + wait))
        self.countingThread.askForRound(in: wait, self.sharesRound)
        return true
    }

    /// Whether another living process uses the circuit, according to the file.
    private func hasCompany(_ name: String) -> Bool {
        guard let lock = self.answers.lockFile, lock.hasOtherWorkers else { return false }
        // If the file can't be read at once, another process may use the circuit.
        guard
            let users = try? self.answers.read({ (database) throws(BreakerStoreError) in
                try database.workers(using: name)
            })
        else { return true }
        return users.count >= Database.mostUsersRead || users.contains { lock.isHeldByAnother(worker: $0) }
    }

    /// If a share is reached now, suspects the share, or opens the circuit if no other process uses the circuit.
    private func suspectOrTrip(_ circuit: SharedCircuit, error: String?) {
        let counts = circuit.counts
        let epoch = counts.epoch
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.sharingRules else { return }
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.share(reachedBy: calls) != nil, !self.suspectUnlessAlone(circuit, epoch: epoch, error: { error })
        else { return }
        self.trip(circuit, cells, rules, epoch, error, calls) {
            self.sums(of: circuit, since: epoch, in: cells)
        }
    }

    private func sums(
        of circuit: SharedCircuit, since epoch: Int64, in cells: CircuitCells
    ) -> Circuit.WindowCounts {
        circuit.counts.sums(since: epoch, of: cells) { self.clock.uptime }
    }

    /// Checks again the shares whose suspicion is over.
    func endSuspicions() {
        for suspicion in self.suspicions.takeEnded(at: .now) { self.end(suspicion) }
    }

    /// Blocks until the thread that counts has checked the suspected shares again: mostly 0.1 s, at most 0.5 s.
    ///
    /// A process that left earlier would leave a circuit closed although a share of its calls was reached.
    func waitForSuspicions() {
        let end = Deadline(after: .milliseconds(500))
        while !end.isOver, self.suspicions.firstEnd != nil { end.pause(atMost: .milliseconds(5)) }
    }

    /// Opens the circuit if the share is still reached, now that all processes have published the good ends of then.
    private func end(_ suspicion: Suspicion) {
        Hook.reached("suspicion.ends")
        let counts = suspicion.circuit.counts
        guard !suspicion.cells.isLost, counts.epoch == suspicion.epoch else { return }
        let counted = suspicion.counted
        guard suspicion.rules.share(reachedBy: counted) != nil, suspicion.rules == counts.sharingRules,
            suspicion.cells === counts.madeCellPair?.board
        else {
            // Bad ends that have come since, or new rules, may reach a share all the same.
            return self.suspectOrTrip(suspicion.circuit, error: suspicion.error)
        }
        // Does not count again inside the transaction: good ends that came while it waited for other commits must not
        // undo the decision.
        self.trip(
            suspicion.circuit, suspicion.cells, suspicion.rules, suspicion.epoch, suspicion.error, counted
        ) { suspicion.cells.isLost ? Circuit.WindowCounts() : counted }
    }

    // MARK: - Tripping

    /// Opens the circuit on the store's thread, or in memory if the trip can't be committed.
    ///
    /// - Parameters:
    ///   - counted: the calls that have reached a share.
    ///   - recount: counts these calls again, inside the transaction.
    private func trip(
        _ circuit: SharedCircuit, _ cells: CircuitCells, _ rules: Rules, _ epoch: Int64, _ error: String?,
        _ counted: Circuit.WindowCounts, recount: @escaping @Sendable () -> Circuit.WindowCounts
    ) {
        self.post(
            until: self.writer.deadline,
            orElse: { _ in
                circuit.shareReachedInMemory(
                    by: counted, error: error, at: self.clock.now, offset: self.clock.offset)
            },
            { (transaction) throws(BreakerStoreError) in
                try self.trip(circuit.name, by: recount(), of: cells, epoch: epoch, error, transaction)
            })
    }

    /// Opens the circuit if a share of its calls is still reached; the caller commits.
    func tripByShare(
        _ circuit: SharedCircuit, epoch: Int64, error: String?, _ transaction: Transaction
    ) throws(BreakerStoreError) {
        guard let cells = circuit.counts.madeCellPair?.deciding else { return }
        try self.trip(
            circuit.name, by: self.sums(of: circuit, since: epoch, in: cells), of: cells, epoch: epoch, error,
            transaction)
    }

    private func trip(
        _ name: String, by counted: Circuit.WindowCounts, of cells: CircuitCells, epoch: Int64, _ error: String?,
        _ transaction: Transaction
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        _ = try transaction.change(name) { (stored, moment, _) -> Circuit.ReportAction in
            // If another process has just registered another window, the next end decides by that window.
            guard CountingRules(stored.rules).hasWindows(of: cells.rules),
                let share = stored.rules.share(reachedBy: counted)
            else { return .counted }
            let workers = cells.reporters(of: share.subject, inStretch: stored.stretch, at: uptime)
            let reporters = FailureList(workers.map { Circuit.Failure(at: moment.now, worker: $0, sequence: 0) })
            return stored.shareReached(
                by: counted, epoch: epoch, error: error, at: moment, among: reporters, isAlive: transaction.isAlive)
        }
    }
}
