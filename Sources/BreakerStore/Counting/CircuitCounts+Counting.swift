import Synchronization

/// How calls are counted, and what the counts say.
extension CircuitCounts {
    /// Moves what the lanes have to the counters.
    ///
    /// - Parameter counters: asked only if there is anything to move.
    func publish(clock: () -> Int64, _ pair: () -> CellPair) {
        // Of a circuit whose calls all fail only the durations wait here.
        guard !self.lanes.isEmpty || !self.durations.isEmpty else {
            // There may be a board by now, or room on it.
            if self.isPrivate { _ = pair() }
            return
        }
        let pair = pair()
        Hook.reached("counts.moving")
        let uptime = clock()
        self.whileNothingMoves { self.moveLanes(to: pair, at: uptime) }
    }

    /// What this process knows of the circuit: epoch and stretch in the file, and the stretch of its own windows.
    private struct Present {
        var epoch: Int64 = 0
        var stretch: Int64 = 0
        var ownStretch: Int64 = 0

        func stretch(of cells: CircuitCells) -> Int64 { cells.board == nil ? self.ownStretch : self.stretch }
    }

    private var present: Present {
        let ownStretch = self.ownStretch.load(ordering: .relaxed)
        return self.state.read(orInAChild: State()) {
            Present(epoch: $0.epoch, stretch: $0.stretch, ownStretch: ownStretch)
        }
    }

    /// Called while nothing else moves; returns what was known then.
    @discardableResult
    private func moveLanes(to pair: CellPair, at uptime: Int64) -> Present {
        let counts = self.lanes.take()
        Hook.reached("counts.taken")
        // Read after the lanes were taken: what let these calls through was known by then, or older.
        let present = self.present
        if counts != LaneCounts() || self.durations.isOpen {
            (pair.board ?? pair.own)?.addToTotals(counts, self.durations)
            pair.board?.addToWindows(good: counts.succeeded, inStretch: present.stretch, at: uptime)
            pair.own?.addToWindows(good: counts.succeeded, inStretch: present.ownStretch, at: uptime)
        }
        return present
    }

    /// Runs `body` while no other thread of this process moves counts from the lanes to the counters.
    ///
    /// Whoever looked at the sums in that moment would miss calls that went well, and trip the circuit too early.
    private func whileNothingMoves(_ body: () -> Void) {
        var isDone = false
        self.moving.change { _ in
            body()
            isDone = true
        }
        // In a child of `fork` a thread that no longer exists may hold the lock.
        if !isDone { body() }
    }

    /// Which circuit has let a call through that ended badly.
    enum Admission: Sendable {
        /// None whose rules look at this end: it counts in totals alone.
        case none
        /// The circuit in the file, in this epoch.
        case file(epoch: Int64)
        /// The circuit in memory, in this epoch of its own.
        case memory(epoch: Int64)
    }

    /// Counts a failing or slow end at once, where a kill can't lose it; returns the calls by which a rule decides.
    ///
    /// In this order:
    /// 1. The good ends that this process had before: they must be in the sums that decide.
    /// 2. The end in the windows, first in those of all processes, unless the circuit has moved on since.
    /// 3. The end in the totals, by which other processes know that there is something new in the windows.
    /// 4. The sums. They have this end, and miss no good one that this process had.
    ///
    /// - Parameter isPresent: asks the file whether the circuit is still in the epoch that has let the call through;
    ///   waits for nothing.
    func count(
        _ end: BadEnd, of admission: Admission, by worker: Int64, in pair: CellPair, clock: () -> Int64,
        isPresent: () -> Bool
    ) -> Circuit.WindowCounts {
        let uptime = clock()
        let isOfMemory = if case .memory = admission { true } else { false }
        let deciding = isOfMemory ? pair.own : pair.deciding
        var present = Present()
        var isPast = false
        var missing: [WindowSubject] = []
        var sums = CircuitCells.Sums()
        self.whileNothingMoves {
            present = self.moveLanes(to: pair, at: uptime)
            isPast = self.isPast(admission, present)
            if !isPast {
                missing = pair.board?.addToWindows(end, by: worker, inStretch: present.stretch, at: uptime) ?? []
                _ = pair.own?.addToWindows(end, by: worker, inStretch: present.ownStretch, at: uptime)
            }
            self.addToTotals(end, in: pair)
            if !isPast, let deciding { sums = deciding.sums(inStretch: present.stretch(of: deciding), at: uptime) }
        }
        guard !isPast, let deciding else { return Circuit.WindowCounts() }
        if missing.isEmpty, !sums.hasFuture, deciding.isOneTick(uptime, clock()) { return sums.calls }
        if !missing.isEmpty, let board = pair.board {
            let isMended = board.dropTheFuture(inStretch: present.stretch) { isPresent() ? clock() : nil }
            if isMended {
                _ = board.addToWindows(end, by: worker, inStretch: present.stretch, at: clock(), of: missing)
            }
        }
        return self.sums(
            of: deciding, inStretch: { present.stretch(of: deciding) },
            isPresent: deciding.board == nil ? { true } : isPresent, clock)
    }

    private func addToTotals(_ end: BadEnd, in pair: CellPair) {
        // Before the board has the end: a thread that looks in between takes it for news, and misses none of others.
        if pair.board != nil {
            self.ownBad.wrappingAdd((end.isFailed ? 1 : 0) + (end.isSlow ? 1 : 0), ordering: .relaxed)
        }
        (pair.board ?? pair.own)?.addToTotals(end)
    }

    /// Whether no window is to have an end, as no rule looks at it, or the circuit that let the call through has moved
    /// on.
    ///
    /// Other processes are to see an end that memory let through, too: it counts as of the file's stretch that this
    /// process knows.
    private func isPast(_ admission: Admission, _ present: Present) -> Bool {
        switch admission {
        case .none: true
        case .file(let epoch): epoch != present.epoch
        case .memory(let epoch): epoch != self.epochInMemory.load(ordering: .relaxed)
        }
    }

    // MARK: - Deciding

    /// The calls in the windows by which a rule decides; none if the circuit has moved on since this epoch.
    func sums(since epoch: Int64, of cells: CircuitCells, clock: () -> Int64) -> Circuit.WindowCounts {
        func stretch() -> Int64? {
            let present = self.present
            return present.epoch == epoch ? present.stretch(of: cells) : nil
        }
        return self.sums(of: cells, inStretch: stretch, isPresent: { false }, clock)
    }

    /// The sums of windows, read again if a tick ended meanwhile; none if ticks end faster than this thread can read.
    ///
    /// The clock, which may be the user's code, is read while nothing is locked.
    private func sums(
        of cells: CircuitCells, inStretch stretch: () -> Int64?, isPresent: () -> Bool, _ clock: () -> Int64
    ) -> Circuit.WindowCounts {
        for _ in 0..<8 {
            let uptime = clock()
            var sums = CircuitCells.Sums()
            guard let stretch = stretch() else { break }
            self.whileNothingMoves { sums = cells.sums(inStretch: stretch, at: uptime) }
            if sums.hasFuture, cells.dropTheFuture(inStretch: stretch, { isPresent() ? clock() : nil }) { continue }
            if cells.isOneTick(uptime, clock()) { return sums.calls }
        }
        return Circuit.WindowCounts()
    }

    /// Notes how many bad ends other processes have added to the board.
    ///
    /// Returns whether there were others when this was last noted.
    func noteBadOfOthers(on cells: CircuitCells) -> Bool {
        let bad = cells.bad &- self.ownBad.load(ordering: .relaxed)
        return self.othersBad.exchange(bad, ordering: .relaxed) != bad
    }
}
