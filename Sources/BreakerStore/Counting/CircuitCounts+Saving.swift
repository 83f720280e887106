import Synchronization

/// How the private counts and the last error of a circuit are saved.
extension CircuitCounts {
    /// The policy's text of a failure that has no row in the file.
    final class LastError: Sendable {
        let text: String
        let epoch: Int64

        init(text: String, epoch: Int64) {
            self.text = text
            self.epoch = epoch
        }
    }

    /// How many microseconds the text of a failure on the board stands for those that follow.
    private static let timeOfText: UInt64 = 50_000

    private func isTextDue(at uptime: Int64) -> Bool {
        let last = self.lastText.load(ordering: .relaxed)
        return last == .min || uptime.subtractingSaturating(last).magnitude >= Self.timeOfText
    }

    /// Whether the text of a failure is to be made: for the board, or as the first one for the file since an error was
    /// last taken to be saved.
    func wantsError(at uptime: Int64) -> Bool {
        self.wantsError.load(ordering: .relaxed) || self.isTextDue(at: uptime)
    }

    /// Keeps the text of a failure for the file, unless another one waits to be saved.
    func noteError(_ text: String, epoch: Int64) {
        guard self.wantsError.exchange(false, ordering: .relaxed) else { return }
        let error = LastError(text: text, epoch: epoch)
        self.state.change { $0.error = error }
    }

    /// Keeps the text of a failure on the board, if it is time for another one, for whichever worker opens the circuit.
    ///
    /// Blocks for as long as the file system does.
    func noteOnBoard(_ text: String, at uptime: Int64) {
        guard self.isTextDue(at: uptime), let cells = self.madeCellPair?.board else { return }
        self.lastText.store(uptime, ordering: .relaxed)
        cells.note(text, at: uptime)
    }

    /// Takes the kept error to save it, with its circuit's id and incarnation; nil if there is no error, or no known
    /// incarnation.
    func takeError() -> (id: Int64, incarnation: Int64, error: LastError)? {
        var taken: (id: Int64, incarnation: Int64, error: LastError)?
        self.state.change { state in
            guard let incarnation = state.known.incarnation, let error = state.error else { return }
            taken = (state.known.id, incarnation, error)
            state.error = nil
        }
        if taken != nil { self.wantsError.store(true, ordering: .relaxed) }
        return taken
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

    /// Keeps an error that could not be saved for the next time, unless there is a newer error.
    func putBack(_ error: LastError, of incarnation: Int64) {
        self.state.change { state in
            guard state.known.incarnation == incarnation, state.error == nil else { return }
            state.error = error
            self.wantsError.store(false, ordering: .relaxed)
        }
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
