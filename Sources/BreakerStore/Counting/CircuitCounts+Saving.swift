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

    /// The error to be told, if there is one, and of which circuit it is.
    func takeError() -> (id: Int64, birth: Int64, error: LastError)? {
        var taken: (id: Int64, birth: Int64, error: LastError)?
        self.state.change { state in
            guard let birth = state.known.birth, let error = state.error else { return }
            taken = (state.known.id, birth, error)
            state.error = nil
        }
        if taken != nil { self.wantsError.store(true, ordering: .relaxed) }
        return taken
    }

    /// What this process has counted without a board, and has not told the file; nil if there is no such thing.
    ///
    /// - Parameter worker: under whose id these calls are told.
    func takeOwn(by worker: Int64) -> Tally? {
        let state = self.knownState
        // What was counted before the birth was known is this circuit's, too.
        guard let birth = state.known.birth, let pair = state.pair, pair.made.birth ?? birth == birth,
            let own = pair.own, !own.isSaved
        else { return nil }
        let all = own.ownCounts
        let new = all.since(state.told?.value ?? OwnCounts())
        return Tally(
            id: state.known.id, birth: birth, board: worker, totals: new.totals, durations: new.durations, own: all)
    }

    /// The file has been told these numbers: the transaction is committed.
    func noteSaved(_ tally: Tally) {
        guard let told = tally.own, let pair = self.madeCellPair,
            pair.made.birth ?? tally.birth == tally.birth
        else { return }
        self.state.change { $0.told = .value(told) }
        pair.own?.noteSaved(told)
    }

    /// The file could not be told this error, which is told later, unless there is a newer one.
    func putBack(_ error: LastError, of birth: Int64) {
        self.state.change { state in
            guard state.known.birth == birth, state.error == nil else { return }
            state.error = error
            self.wantsError.store(false, ordering: .relaxed)
        }
    }

    /// Whether no count would be lost with this object: the file has been told all of them, or has no such circuit.
    var isSettled: Bool { self.isSaved || self.knownState.known.isMissing }

    /// Whether the file has been told all counts of this process, or will be by whoever looks at the board.
    var isSaved: Bool {
        guard self.lanes.isEmpty, self.durations.isEmpty else { return false }
        return self.madeCellPair?.own?.isSaved ?? true
    }
}
