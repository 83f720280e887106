import CBreakerStore

/// What a board, or a process without one, has counted of a circuit, to be told to the file.
struct Tally: Sendable {
    /// The circuit's row, and its birth: somebody may have forgotten the circuit.
    var id: Int64
    var birth: Int64
    /// The board's number, or the worker's id.
    var board: Int64
    var totals: CellTotals?
    var durations: DurationBuckets?
    /// What a process has counted without a board since it began; nil for a board's numbers, which are told whole.
    ///
    /// Where it is not nil, the totals and durations above are those that the file does not have yet.
    var own: OwnCounts?
}

/// What a process has counted of a circuit while there was no board, or no room on it.
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
    /// What the file has not been told.
    ///
    /// - Parameters:
    ///   - start: the place to begin at: that behind which the last walk stopped.
    ///   - most: so many circuits at most.
    /// - Returns: the numbers, and the place at which the next walk begins; nil if this one came to the end.
    func unsaved(from start: Int, atMost most: Int) -> (tallies: [Tally], next: Int?) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var tallies: [Tally] = []
        var first = 0
        for segment in (try? self.segments(following: true)) ?? []
        where segment.kind == .totals || segment.kind == .durations {
            for place in min(max(0, start - first), segment.capacity)..<segment.capacity {
                if tallies.count >= most { return (tallies, first + place) }
                if let tally = self.unsaved(in: segment.cell(at: place), segment.kind) { tallies.append(tally) }
            }
            first += segment.capacity
        }
        // Numbers that were read while the board was lost are zeros.
        return (self.isLost ? [] : tallies, nil)
    }

    private func unsaved(in cell: SharedWords, _ kind: BoardKind) -> Tally? {
        guard cell[0] != 0 else { return nil }
        let key = CellKey(of: cell)
        var tally = Tally(id: key.id, birth: key.birth, board: Int64(bitPattern: self.number))
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
        case .ring, .worker, .reporters: return nil
        }
        return tally
    }

    /// The file has been told these numbers: the transaction is committed.
    func noteSaved(_ tallies: [Tally]) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        guard let segments = try? self.segments(following: false) else { return }
        for tally in tallies where tally.board == Int64(bitPattern: self.number) {
            let key = CellKey(birth: tally.birth, id: tally.id)
            func cell(_ kind: BoardKind) -> SharedWords? {
                segments.lazy.filter { $0.kind == kind }.compactMap { $0.cell(key) }.first
            }
            if let totals = tally.totals, let cell = cell(.totals) { TotalsCell(words: cell).noteSaved(totals) }
            if let durations = tally.durations, let cell = cell(.durations) { durations.noteSaved(in: cell) }
        }
    }
}
