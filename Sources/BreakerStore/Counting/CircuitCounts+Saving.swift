import Synchronization

/// How the private counts of a circuit are saved, and the texts of its failures.
extension CircuitCounts {
    /// How many microseconds the text of a failure on the board stands for those that follow.
    private static let timeOfText: UInt64 = 50_000

    /// Whether it is time that the board gets the text of another failure: to make a text may be expensive.
    func isTextDue(at uptime: Int64) -> Bool {
        let last = self.lastText.load(ordering: .relaxed)
        return last == .min || uptime.subtractingSaturating(last).magnitude >= Self.timeOfText
    }

    /// Writes the text of a failure to the board, if it is time for another one, for readers and for whichever worker
    /// opens the circuit.
    ///
    /// Blocks for as long as the file system does.
    func noteOnBoard(_ text: String, at uptime: Int64) {
        guard self.isTextDue(at: uptime) else { return }
        self.lastText.store(uptime, ordering: .relaxed)
        self.madeCellPair?.board?.note(text, at: uptime)
    }

    /// The private counts that the file does not have yet; nil if there are none, or if the incarnation is not known.
    ///
    /// - Parameter worker: the id under which these counts are saved.
    func takeOwn(by worker: Int64) -> Tally? {
        let state = self.knownState
        // Calls that were counted before the incarnation was known are this circuit's, too.
        guard let incarnation = state.known.incarnation, let pair = state.pair,
            pair.made.incarnation ?? incarnation == incarnation,
            let own = pair.own, !own.isSaved
        else { return nil }
        let all = own.ownCounts
        let new = all.since(state.saved?.value ?? OwnCounts())
        return Tally(
            id: state.known.id, incarnation: incarnation, board: worker, totals: new.totals, durations: new.durations,
            own: all)
    }

    /// Called once the transaction that saves this tally is committed.
    func noteSaved(_ tally: Tally) {
        guard let counts = tally.own else { return }
        var own: CircuitCells?
        self.state.change { state in
            // Another thread may have found a new circuit of this name meanwhile.
            guard let pair = state.pair, pair.made.incarnation ?? tally.incarnation == tally.incarnation else { return }
            state.saved = .value(counts)
            own = pair.own
        }
        own?.noteSaved(counts)
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
