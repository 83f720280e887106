import CBreakerStore

/// What is to be saved in the file of one circuit: its counts on a board, or a process's private counts.
///
/// Only `own` decides which: it is nil for a board.
struct CircuitCounters: Sendable {
    /// The id of the circuit's row.
    var id: Int64
    /// The circuit's incarnation: by the commit, the circuit may have been forgotten and created again.
    var incarnation: Int64
    /// The board's number; for private counts the worker's id.
    var board: Int64
    var totals: CellTotals?
    var durations: DurationBuckets?
    /// The private counts of a process since its start, which are marked as saved after the commit; nil for a board.
    ///
    /// With private counts, `totals` and `durations` are only the increase since the last save. For a board they are
    /// the full counts.
    var own: OwnCounts?
}

/// The private counts of a circuit: of calls while there was no board, or no room on it.
struct OwnCounts: Sendable {
    var totals = CellTotals()
    var durations: DurationBuckets?

    func since(_ saved: OwnCounts) -> OwnCounts {
        OwnCounts(
            totals: self.totals.subtracting(saved.totals),
            durations: self.durations.map { total in saved.durations.map { total.subtracting($0) } ?? total })
    }
}

extension Board {
    /// The counts that the file does not have yet.
    ///
    /// - Parameters:
    ///   - start: the index of the first cell to read, where the last walk stopped.
    ///   - most: the greatest number of counters.
    ///   - visits: how many cells to read at most.
    /// - Returns: the counters, and the index at which the next walk begins; nil if this walk has reached the last
    ///   cell.
    func unsaved(from start: Int, atMost most: Int, visits: Int = .max) -> (counters: [CircuitCounters], next: Int?) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var counters: [CircuitCounters] = []
        var (segmentStart, visited) = (0, 0)
        var next: Int?
        segments: for segment in (try? self.segments(mappingNew: true)) ?? []
        where segment.kind == .totals || segment.kind == .durations {
            for index in min(max(0, start - segmentStart), segment.capacity)..<segment.capacity {
                if counters.count >= most || visited >= visits {
                    next = segmentStart + index
                    break segments
                }
                visited += 1
                if let entry = self.unsaved(in: segment.cell(at: index), segment.kind) { counters.append(entry) }
            }
            segmentStart += segment.capacity
        }
        // Counts that were read from a lost board may be zeros.
        return (self.isLost ? [] : counters, next)
    }

    private func unsaved(in cell: SharedWords, _ kind: BoardKind) -> CircuitCounters? {
        guard cell[0] != 0 else { return nil }
        let key = CellKey(of: cell)
        var entry = CircuitCounters(id: key.id, incarnation: key.incarnation, board: Int64(bitPattern: self.number))
        switch kind {
        case .totals:
            let totalsCell = TotalsCell(words: cell)
            let totals = totalsCell.totals
            guard !totalsCell.isSaved(totals) else { return nil }
            entry.totals = totals
        case .durations:
            let durations = DurationBuckets(cell)
            guard !durations.isSaved(in: cell) else { return nil }
            entry.durations = durations
        case .ring, .degradedWorker, .reporters, .seats, .lastError: return nil
        }
        return entry
    }

    /// Marks these counters as saved, after the commit of the transaction that saved them.
    func setSaved(_ counters: [CircuitCounters]) {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        guard let segments = try? self.segments(mappingNew: false) else { return }
        for entry in counters where entry.board == Int64(bitPattern: self.number) {
            let key = CellKey(incarnation: entry.incarnation, id: entry.id)
            if let totals = entry.totals, let cell = Self.cell(.totals, key, in: segments) {
                TotalsCell(words: cell).setSaved(totals)
            }
            if let durations = entry.durations, let cell = Self.cell(.durations, key, in: segments) {
                durations.setSaved(in: cell)
            }
        }
    }

    // MARK: - Turns to save

    /// Acquires the turn to save the counts of the board; false if a worker acquired it within the last `pause`
    /// microseconds.
    ///
    /// All workers see the same counts, and each commit makes all of them read their circuits again: so one worker
    /// saves for all. If that worker is killed, another one gets the next turn.
    func acquireTurn(at uptime: Uptime, pause: Int64) -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        let words = self.header.words(from: 0)
        let last = words[BoardHeader.Index.savedAt]
        let age = uptime.microseconds &- Int64(bitPattern: last)
        // A time in the future is damage, or was written before the uptime started again.
        guard last == 0 || age < 0 || age >= pause else { return false }
        return words.replace(last, with: UInt64(bitPattern: uptime.microseconds), at: BoardHeader.Index.savedAt)
    }

    /// Frees the turn for any worker, because the one that has it could not save all counts.
    func releaseTurn() {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        self.header.words(from: 0)[BoardHeader.Index.savedAt] = 0
    }
}
