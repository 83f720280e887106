import Synchronization

/// Saves the private counts of a circuit, and publishes the texts of its failures.
extension CircuitCounts {
    /// For how many microseconds after a text was written no other failure's text is written.
    private static let textInterval: UInt64 = 50_000

    /// Whether the board is due to get the text of another failure: to make a text may be expensive.
    func isTextDue(at uptime: Uptime) -> Bool {
        let last = self.lastText.load(ordering: .relaxed)
        return last == .min || uptime.microseconds.subtractingSaturating(last).magnitude >= Self.textInterval
    }

    /// Writes the text of a failure to the board if another text is due: for readers, and for the worker that opens the
    /// circuit.
    ///
    /// Blocks for as long as the file system does.
    func publishError(_ text: String, at uptime: Uptime) {
        guard self.isTextDue(at: uptime) else { return }
        self.lastText.store(uptime.microseconds, ordering: .relaxed)
        self.madeCellPair?.board?.publishError(text, at: uptime)
    }

    /// The private counts that the file does not have yet; nil if there are none, or if the incarnation is not known.
    ///
    /// - Parameter worker: the id under which these counts are saved.
    func unsavedOwn(by worker: WorkerID) -> CircuitCounters? {
        let state = self.knownState
        // Calls that were counted before the incarnation was known are this circuit's, too.
        guard let incarnation = state.known.incarnation, let pair = state.pair,
            (pair.made.incarnation ?? incarnation) == incarnation,
            let own = pair.own, !own.isSaved
        else { return nil }
        let total = own.ownCounts
        let increase = total.since(state.saved?.value ?? OwnCounts())
        return CircuitCounters(
            id: state.known.id, incarnation: incarnation, board: worker.rawValue, totals: increase.totals,
            durations: increase.durations, own: total)
    }

    /// Marks these counters as saved, after the commit of the transaction that saved them.
    func setSaved(_ counters: CircuitCounters) {
        guard let counts = counters.own else { return }
        var own: CircuitCells?
        self.state.change { state in
            // Another thread may have found a new circuit of this name since.
            guard let pair = state.pair, (pair.made.incarnation ?? counters.incarnation) == counters.incarnation
            else { return }
            state.saved = .value(counts)
            own = pair.own
        }
        own?.setSaved(counts)
    }

    /// Whether this object may be dropped without losing a count.
    ///
    /// All counts are saved or on a board, or the file has no such circuit.
    var isSettled: Bool { self.isSaved || self.knownState.known.isMissing }

    /// Whether all counts of this process are in the file, or on a board, from which any worker saves them.
    var isSaved: Bool {
        guard self.lanes.isEmpty, self.durations.isEmpty else { return false }
        return self.madeCellPair?.own?.isSaved ?? true
    }
}
