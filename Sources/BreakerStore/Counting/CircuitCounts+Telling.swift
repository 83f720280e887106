import Synchronization

/// What the file is told of a circuit's calls.
extension CircuitCounts {
    /// What the policy says of a failure of which no row is kept.
    final class LastError: Sendable {
        let text: String
        let epoch: Int64

        init(text: String, epoch: Int64) {
            self.text = text
            self.epoch = epoch
        }
    }

    /// Keeps the text of a failure, if it is the first one since the file was told last.
    func noteError(epoch: Int64, _ text: () -> String?) {
        guard self.wantsError.load(ordering: .relaxed), let text = text(),
            self.wantsError.exchange(false, ordering: .relaxed)
        else { return }
        let error = LastError(text: text, epoch: epoch)
        self.state.change { $0.error = error }
    }

    /// The error to be told, if there is one.
    func takeError() -> (birth: Int64, error: LastError)? {
        let state = self.present
        guard let birth = state.known.birth, let error = state.error else { return nil }
        self.state.change { $0.error = nil }
        self.wantsError.store(true, ordering: .relaxed)
        return (birth, error)
    }

    /// The numbers of one board about the circuit, to be told to the file.
    struct Tally: Sendable {
        var birth: Int64
        var board: Int64
        var totals: BlockTotals
        /// Nil where this process does not measure.
        var durations: DurationBuckets?
        /// Not nil if these numbers are this process's own, and of no board.
        var strays: StrayNumbers?

        /// The row of this process's own numbers is gone: another one is begun.
        mutating func beginAnew() {
            self.strays?.beginAnew()
            self.takeStrays()
        }

        fileprivate mutating func takeStrays() {
            guard let row = self.strays?.row else { return }
            self.totals = row.totals
            if self.durations != nil { self.durations = row.durations }
        }
    }

    /// The numbers that have changed since the file was last told, as far as this process is to tell them.
    ///
    /// - Parameters:
    ///   - pause: for how many microseconds after another process has told the board's numbers this one does not.
    ///   - worker: under whose id calls are told that could not go to a board.
    func takeTallies(at uptime: Int64, pause: Int64, by worker: Int64) -> [Tally] {
        let state = self.present
        // What was counted before the birth was known is this circuit's, too.
        guard let birth = state.known.birth, let counters = state.counters, counters.made.birth ?? birth == birth else {
            return []
        }
        var tallies: [Tally] = []
        if let shared = counters.shared, let board = shared.board, !shared.isLost,
            let (totals, durations) = shared.takeToTell(at: uptime, pause: pause), !shared.isLost
        {
            tallies.append(
                Tally(birth: birth, board: Int64(bitPattern: board.number), totals: totals, durations: durations))
        }
        var strays: (totals: BlockTotals, durations: DurationBuckets?)?
        // Under the lock, as in `moveStrays`: what is told must not be moved as well.
        self.state.change { _ in strays = counters.stray?.takeToTell(at: uptime, pause: 0) }
        if let (totals, durations) = strays {
            let isMeasured = state.known.rules.measuresDurations
            var tally = Tally(birth: birth, board: worker, totals: totals, durations: isMeasured ? durations : nil)
            tally.strays = StrayNumbers(
                .init(totals: totals, durations: durations), by: worker, after: state.strays?.value)
            tally.takeStrays()
            tallies.append(tally)
        }
        return tallies
    }

    /// The file has been told these numbers: the transaction is committed.
    func told(_ tallies: [Tally]) {
        guard let counters = self.madeCounters else { return }
        for tally in tallies where counters.made.birth ?? tally.birth == tally.birth {
            if let strays = tally.strays {
                self.state.change { $0.strays = .value(strays) }
                counters.stray?.told(strays.all.totals, strays.all.durations)
            } else if let shared = counters.shared, shared.board.map({ Int64(bitPattern: $0.number) }) == tally.board {
                shared.told(tally.totals, tally.durations)
            }
        }
    }

    /// The file could not be told this error, which is told later, unless there is a newer one.
    func putBack(_ error: (birth: Int64, error: LastError)) {
        self.state.change { state in
            guard state.known.birth == error.birth, state.error == nil else { return }
            state.error = error.error
            self.wantsError.store(false, ordering: .relaxed)
        }
    }

    /// Whether no count would be lost with this object: the file has been told all of them, or has no such circuit.
    var isSettled: Bool { self.isTold || self.present.known.isMissing }

    /// Whether the file has been told all counts.
    var isTold: Bool {
        guard self.lanes.isEmpty, self.durations.isEmpty else { return false }
        let counters = self.madeCounters
        return counters?.shared?.isTold ?? true && counters?.stray?.isTold ?? true
    }
}
