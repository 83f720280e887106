import Synchronization

/// Finds out whether a share of a circuit's calls failed or was slow, and opens the circuit.
///
/// Failing ends are on the board at once, good ones once their process has published them. So the board may show a
/// share as reached only because other processes have not published yet. Such a share is suspected: this process keeps
/// the sums, and a while later counts the failing ends of then among the good ones of then and those that have come
/// since.
extension StoreCore {
    /// Each process publishes the good calls of circuits with shares so often, in microseconds, or each tick of the
    /// shortest window, if that is shorter.
    private static let longestPeriod: Int64 = 50_000

    private static func period(_ window: Int64) -> Duration {
        .microseconds(min(Self.longestPeriod, WindowTicks(window: window).length))
    }

    // MARK: - The thread that counts

    /// Has the thread that counts publish the calls of circuits with such a window, and look at it.
    ///
    /// Returns false if there is no such thread: the system had none left, or the store is closed.
    @discardableResult
    func publishOften(_ window: Int64) -> Bool {
        self.countingThread.tick(in: Self.period(window), self.ticker)
    }

    /// The work of the thread that counts in each tick.
    var ticker: CountingThread.Tick { { [weak self] in self?.tickShares() } }

    /// Publishes the calls of circuits with shares, and ends suspicions; returns when to do so again.
    ///
    /// Nil if there is no such circuit.
    private func tickShares() -> Duration? {
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

    /// Acts on a share that is reached, if calls of other processes have ended badly since this one last looked.
    ///
    /// The process that counted the last failing end may have been killed before it acted on the share.
    func actOnShares(of circuit: SharedCircuit) {
        guard !self.isForked, let cells = circuit.counts.madeCellPair?.board, !cells.isLost,
            circuit.counts.noteBadOfOthers(on: cells)
        else { return }
        // Without calls of its own this process may know of an epoch, or of a window, that is over.
        self.refresh(circuit)
        self.makeCellPair(for: circuit.counts)
        self.suspectOrTrip(circuit, error: nil)
    }

    private func refresh(_ circuit: SharedCircuit) {
        guard let gate = self.guarded.withLock({ $0.gates.first }) else { return }
        _ = try? self.look(Asker(circuit: circuit, gate: gate))
    }

    // MARK: - Suspicions

    /// Suspects a share that was reached with a failing or slow end, unless no other process can have calls of the
    /// circuit that it has not published.
    ///
    /// - Parameter error: what the policy says of the failure; asked only for a new suspicion.
    /// - Returns: false if the caller is to open the circuit at once.
    func suspectUnlessAlone(_ circuit: SharedCircuit, epoch: Int64, error: () -> String?) -> Bool {
        let counts = circuit.counts
        if self.suspicions.isSuspected(circuit, in: epoch) { return true }
        guard let cells = counts.madeCellPair?.board, !cells.isLost, let rules = counts.sharingRules,
            self.hasCompany(circuit.name), self.publishOften(counts.shortestWindow ?? 0)
        else { return false }
        // Before the windows are summed up.
        let good = cells.goodEver
        Hook.reached("suspicion.begins")
        let calls = self.sums(of: circuit, since: epoch, in: cells)
        guard rules.share(reachedBy: calls) != nil else { return true }
        let wait = Self.period(counts.shortestWindow ?? 0) * 2
        self.suspicions.begin(
            Suspicion(
                circuit: circuit, cells: cells, rules: rules, epoch: epoch, error: error(), calls: calls,
                goodBefore: good, end: .now + wait))
        self.countingThread.tick(in: wait, self.ticker)
        return true
    }

    /// Whether another process that lives uses the circuit, as far as the file tells.
    private func hasCompany(_ name: String) -> Bool {
        guard let lock = self.answers.lockFile, lock.hasOtherWorkers else { return false }
        // Where the file can't be read at once, nobody knows which circuits the others use.
        guard
            let users = try? self.answers.read({ (database) throws(BreakerStoreError) in
                try database.workers(using: name)
            })
        else { return true }
        return users.count >= Database.mostUsersRead || users.contains { lock.isHeldByAnother(worker: $0) }
    }

    /// If a share is reached just now: suspects it, or opens the circuit if no other process uses the circuit.
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

    /// Looks anew at the shares whose suspicion is over.
    func endSuspicions() {
        for suspicion in self.suspicions.takeEnded(at: .now) { self.end(suspicion) }
    }

    /// Blocks until the thread that counts has looked anew at the suspected shares: mostly a tenth of a second.
    ///
    /// A process that leaves before would leave a circuit closed whose share it had reached.
    func waitForSuspicions() {
        let end = Deadline(after: .milliseconds(500))
        while !end.isOver, self.suspicions.firstEnd != nil { end.pause(atMost: .milliseconds(5)) }
    }

    /// All processes have published what they had when the suspicion began: the share is reached, or looked at anew.
    private func end(_ suspicion: Suspicion) {
        Hook.reached("suspicion.ends")
        let counts = suspicion.circuit.counts
        guard !suspicion.cells.isLost, counts.epoch == suspicion.epoch else { return }
        let counted = suspicion.counted
        guard suspicion.rules.share(reachedBy: counted) != nil, suspicion.rules == counts.sharingRules,
            suspicion.cells === counts.madeCellPair?.board
        else {
            // Because of the failing ends that have come since, or of rules that have.
            return self.suspectOrTrip(suspicion.circuit, error: suspicion.error)
        }
        // Good calls that come while the commit waits for others are no reason to stay closed.
        self.trip(
            suspicion.circuit, suspicion.cells, suspicion.rules, suspicion.epoch, suspicion.error, counted
        ) { suspicion.cells.isLost ? Circuit.WindowCounts() : counted }
    }

    // MARK: - Tripping

    /// Opens the circuit on the store's thread; in memory, if the file can't be told.
    ///
    /// - Parameters:
    ///   - counted: the calls that have reached a share.
    ///   - recount: counts them again, inside the transaction.
    private func trip(
        _ circuit: SharedCircuit, _ cells: CircuitCells, _ rules: Rules, _ epoch: Int64, _ error: String?,
        _ counted: Circuit.WindowCounts, recount: @escaping @Sendable () -> Circuit.WindowCounts
    ) {
        self.post(
            until: self.writer.deadline,
            orElse: { _ in
                circuit.memory.shareReached(by: counted, .inMemory(rules), error: error, at: self.clock.now)
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
            // If another process has registered another window in this moment, the next end decides by that window.
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
