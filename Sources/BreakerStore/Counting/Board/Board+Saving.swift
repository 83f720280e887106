import CBreakerStore

/// The counts of a circuit on a board, or in a process without a board, to be saved in the file.
struct Tally: Sendable {
    /// The id of the circuit's row, and the circuit's incarnation: the circuit may have been forgotten meanwhile.
    var id: Int64
    var incarnation: Int64
    /// The board's number, or the worker's id.
    var board: Int64
    var totals: CellTotals?
    var durations: DurationBuckets?
    /// The full private counts of a process since it began, noted as saved after the commit; nil for a board.
    ///
    /// If there are private counts, `totals` and `durations` are only the increase since the last save. For a board
    /// they are the full counts.
    var own: OwnCounts?
}

/// The private counts of a circuit: those of calls while there was no board, or no room on it.
struct OwnCounts: Sendable {
    var totals = CellTotals()
    var durations: DurationBuckets?

    func since(_ told: OwnCounts) -> OwnCounts {
        OwnCounts(
            totals: self.totals.subtracting(told.totals),
            durations: self.durations.map { all in told.durations.map { all.subtracting($0) } ?? all })
    }
}

extension Board {
    /// The numbers that the file does not have yet.
    ///
    /// - Parameters:
    ///   - start: the place at which to begin, where the last walk stopped.
    ///   - most: the greatest number of tallies.
    /// - Returns: the tallies, and the place at which the next walk begins; nil if this walk came to the end.
    func unsaved(from start: Int, atMost most: Int) -> (tallies: [Tally], next: Int?) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var tallies: [Tally] = []
        var first = 0
        var next: Int?
        segments: for segment in (try? self.segments(following: true)) ?? []
        where segment.kind == .totals || segment.kind == .durations {
            for place in min(max(0, start - first), segment.capacity)..<segment.capacity {
                if tallies.count >= most {
                    next = first + place
                    break segments
                }
                if let tally = self.unsaved(in: segment.cell(at: place), segment.kind) { tallies.append(tally) }
            }
            first += segment.capacity
        }
        // Numbers that were read from a lost board are zeros.
        return (self.isLost ? [] : tallies, next)
    }

    private func unsaved(in cell: SharedWords, _ kind: BoardKind) -> Tally? {
        guard cell[0] != 0 else { return nil }
        let key = CellKey(of: cell)
        var tally = Tally(id: key.id, incarnation: key.incarnation, board: Int64(bitPattern: self.number))
        switch kind {
        case .totals:
            let block = TotalsCell(words: cell)
            let totals = block.totals
            guard !block.isSaved(totals) else { return nil }
            tally.totals = totals
        case .durations:
            let durations = DurationBuckets(cell)
            guard !durations.isSaved(in: cell) else { return nil }
            tally.durations = durations
        case .ring, .worker, .reporters, .seats, .lastError: return nil
        }
        return tally
    }

    /// Called once the transaction that saves these tallies is committed.
    func noteSaved(_ tallies: [Tally]) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        guard let segments = try? self.segments(following: false) else { return }
        for tally in tallies where tally.board == Int64(bitPattern: self.number) {
            let key = CellKey(incarnation: tally.incarnation, id: tally.id)
            if let totals = tally.totals, let cell = Self.cell(.totals, key, in: segments) {
                TotalsCell(words: cell).noteSaved(totals)
            }
            if let durations = tally.durations, let cell = Self.cell(.durations, key, in: segments) {
                durations.noteSaved(in: cell)
            }
        }
    }

    // MARK: - Turns to save

    /// Takes the turn to save the counts of the board, unless a worker has taken it within `pause` microseconds.
    ///
    /// All workers see the same numbers, and each commit makes all of them read their circuits again: so one worker
    /// saves for all. If that worker is killed, another worker takes the next turn.
    func takeTurn(at uptime: Int64, pause: Int64) -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        let words = self.header.words(from: 0)
        let last = words[BoardHeader.Place.savedAt]
        let age = uptime &- Int64(bitPattern: last)
        // A time in the future is damage, or was written before the clock began again.
        guard last == 0 || age < 0 || age >= pause else { return false }
        return words.replace(last, with: UInt64(bitPattern: uptime), at: BoardHeader.Place.savedAt)
    }

    /// Lets any worker take the next turn: the worker that has the turn could not save all numbers.
    func giveTurnBack() {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        self.header.words(from: 0)[BoardHeader.Place.savedAt] = 0
    }
}
