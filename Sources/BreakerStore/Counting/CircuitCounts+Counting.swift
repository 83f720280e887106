import Synchronization

/// How calls are counted and published, and how the sums are read by which rules decide.
extension CircuitCounts {
    /// Publishes the lanes to the cells.
    ///
    /// - Parameter pair: called only if there is something to publish, or if the cells are private.
    func publish(clock: () -> Int64, _ pair: () -> CellPair) {
        // If all calls of a circuit fail, only their durations wait here.
        guard !self.lanes.isEmpty || !self.durations.isEmpty else {
            // There may be a board by now, or room on it.
            if self.isPrivate { _ = pair() }
            return
        }
        let pair = pair()
        Hook.reached("counts.moving")
        let uptime = clock()
        self.whileNothingIsPublished { self.publishLanes(to: pair, at: uptime) }
    }

    /// How `publishWithoutWaiting` ended.
    enum Publication {
        /// All that was counted before the call is in the cells.
        case done
        /// Another thread moves counts just now, so some of them may be on their way.
        case underWay
        /// There are no cells on this board yet: what was counted stays in the lanes.
        case lacksCells
    }

    /// Publishes the lanes to cells that are there, for the thread that counts: waits for no lock and for no disk.
    ///
    /// - Parameter board: the board that is open now; nil while there is none.
    func publishWithoutWaiting(on board: Board?, clock: () -> Int64) -> Publication {
        guard !self.lanes.isEmpty || !self.durations.isEmpty else {
            // The lanes may be empty because another thread has just taken their counts.
            return self.moving.changeIfAvailable { _ in } ? .done : .underWay
        }
        // Where the board has no room for the circuit, this process counts alone, and nobody has to wait for that.
        guard let pair = self.pair(on: board) ?? (self.isPrivate ? self.madeCellPair : nil) else { return .lacksCells }
        Hook.reached("counts.moving")
        let uptime = clock()
        return self.moving.changeIfAvailable { _ in self.publishLanes(to: pair, at: uptime) } ? .done : .underWay
    }

    /// The circuit as this process knows it: epoch and window generation in the file, and the window generation of the
    /// private windows.
    private struct Present {
        var epoch: Int64 = 0
        var windowGeneration: Int64 = 0
        var ownGeneration: Int64 = 0

        func windowGeneration(of cells: CircuitCells) -> Int64 {
            cells.board == nil ? self.ownGeneration : self.windowGeneration
        }
    }

    private var present: Present {
        let ownGeneration = self.ownGeneration.load(ordering: .relaxed)
        return self.state.read(orInAChild: State()) {
            Present(epoch: $0.epoch, windowGeneration: $0.windowGeneration, ownGeneration: ownGeneration)
        }
    }

    /// Publishes the lanes while `moving` is held; returns what this process knew just afterwards.
    @discardableResult
    private func publishLanes(to pair: CellPair, at uptime: Int64) -> Present {
        let counts = self.lanes.take()
        Hook.reached("counts.taken")
        // Read after the lanes are emptied: the epoch that let these calls through was known by then, or is older.
        let present = self.present
        if counts != LaneCounts() || self.durations.isOpen {
            (pair.board ?? pair.own)?.addToTotals(counts, self.durations)
            pair.board?.addToWindows(good: counts.succeeded, inGeneration: present.windowGeneration, at: uptime)
            pair.own?.addToWindows(good: counts.succeeded, inGeneration: present.ownGeneration, at: uptime)
        }
        if counts.succeeded > 0 { self.hasUnjudgedSuccesses.store(true, ordering: .releasing) }
        return present
    }

    /// Runs `body` while no other thread of this process moves counts from the lanes to the cells.
    ///
    /// A thread that read the sums during such a move would miss good calls, and would trip the circuit too early.
    private func whileNothingIsPublished(_ body: () -> Void) {
        var isDone = false
        self.moving.change { _ in
            body()
            isDone = true
        }
        // In a child of `fork`, `change` does nothing: a thread that does not exist there may hold the lock.
        if !isDone { body() }
    }

    /// The circuit that let through a call that ended badly.
    enum Origin: Sendable {
        /// No circuit whose rules look at this end: the end counts in totals only.
        case none
        /// The circuit in the file, in this epoch.
        case file(epoch: Int64)
        /// The circuit in memory, in this epoch of its own.
        case memory(epoch: Int64)
    }

    /// Counts a bad end at once, where a kill can't lose it; returns the calls by which a rule decides.
    ///
    /// In this order:
    /// 1. The lanes are published: the sums that decide must have the earlier good ends of this process.
    /// 2. The end is added to the windows, first to those on the board, unless the circuit has moved on since.
    /// 3. The end is added to the totals, by which other processes notice that the windows have changed.
    /// 4. The windows are summed. The sums have this end, and miss no earlier good end of this process.
    ///
    /// - Parameter isPresent: asks the file, without waiting, whether the circuit is still in the epoch that let the
    ///   call through.
    func count(
        _ end: CountedFailure, of origin: Origin, by worker: Int64, in pair: CellPair, clock: () -> Int64,
        isPresent: () -> Bool
    ) -> Circuit.WindowCounts {
        let uptime = clock()
        let isOfMemory = if case .memory = origin { true } else { false }
        let deciding = isOfMemory ? pair.own : pair.deciding
        var present = Present()
        var isPast = false
        var missing: [WindowSubject] = []
        var sums = CircuitCells.Sums()
        self.whileNothingIsPublished {
            present = self.publishLanes(to: pair, at: uptime)
            isPast = self.isPast(origin, present)
            if !isPast {
                missing =
                    pair.board?.addToWindows(end, by: worker, inGeneration: present.windowGeneration, at: uptime) ?? []
                _ = pair.own?.addToWindows(end, by: worker, inGeneration: present.ownGeneration, at: uptime)
            }
            self.addToTotals(end, in: pair)
            if !isPast, let deciding {
                sums = deciding.sums(inGeneration: present.windowGeneration(of: deciding), at: uptime)
            }
        }
        guard !isPast, let deciding else { return Circuit.WindowCounts() }
        if missing.isEmpty, !sums.hasFuture, deciding.isOneTick(uptime, clock()) { return sums.calls }
        if !missing.isEmpty, let board = pair.board {
            let isMended = board.dropTheFuture(inGeneration: present.windowGeneration) { isPresent() ? clock() : nil }
            if isMended {
                _ = board.addToWindows(
                    end, by: worker, inGeneration: present.windowGeneration, at: clock(), of: missing)
            }
        }
        return self.sums(
            of: deciding, inGeneration: { present.windowGeneration(of: deciding) },
            isPresent: deciding.board == nil ? { true } : isPresent, clock)
    }

    private func addToTotals(_ end: CountedFailure, in pair: CellPair) {
        // `ownBad` first, then the board. A comparison in between sees one bad end of others too few: it checks once
        // too often, and finds a real one in the next round at the latest. In the opposite order it would see one too
        // many, and the next real one would look like no change.
        if pair.board != nil {
            self.ownBad.wrappingAdd((end.isFailed ? 1 : 0) + (end.isSlow ? 1 : 0), ordering: .relaxed)
        }
        (pair.board ?? pair.own)?.addToTotals(end)
    }

    /// Whether the end counts in totals only: no rule looks at it, or the circuit has moved on since it let the call
    /// through.
    ///
    /// Ends of memory's calls also go to the board, in the window generation that this process last read: other
    /// processes count them, while memory decides by the private windows.
    private func isPast(_ origin: Origin, _ present: Present) -> Bool {
        switch origin {
        case .none: true
        case .file(let epoch): epoch != present.epoch
        case .memory(let epoch): epoch != self.epochInMemory.load(ordering: .relaxed)
        }
    }

    // MARK: - Deciding

    /// The calls in the windows by which a rule decides; none if the circuit has left this epoch.
    func sums(since epoch: Int64, of cells: CircuitCells, clock: () -> Int64) -> Circuit.WindowCounts {
        func windowGeneration() -> Int64? {
            let present = self.present
            return present.epoch == epoch ? present.windowGeneration(of: cells) : nil
        }
        return self.sums(of: cells, inGeneration: windowGeneration, isPresent: { false }, clock)
    }

    /// The sums of windows, read again if a tick ended meanwhile; none if ticks end faster than this thread can read.
    ///
    /// The clock, which may be the user's code, is read while no lock is held.
    private func sums(
        of cells: CircuitCells, inGeneration windowGeneration: () -> Int64?, isPresent: () -> Bool, _ clock: () -> Int64
    ) -> Circuit.WindowCounts {
        for _ in 0..<8 {
            let uptime = clock()
            var sums = CircuitCells.Sums()
            guard let windowGeneration = windowGeneration() else { break }
            self.whileNothingIsPublished { sums = cells.sums(inGeneration: windowGeneration, at: uptime) }
            if sums.hasFuture, cells.dropTheFuture(inGeneration: windowGeneration, { isPresent() ? clock() : nil }) {
                continue
            }
            if cells.isOneTick(uptime, clock()) { return sums.calls }
        }
        return Circuit.WindowCounts()
    }

    /// Notes how many bad ends other processes have added to the board; returns whether the number has changed.
    func noteBadOfOthers(on cells: CircuitCells) -> Bool {
        let bad = cells.bad &- self.ownBad.load(ordering: .relaxed)
        return self.othersBad.exchange(bad, ordering: .relaxed) != bad
    }

    /// Whether a rate may be reached by now; takes no lock that is held for long.
    ///
    /// May err: a caller that acts on this sums the windows again.
    func mayReachRate(on cells: CircuitCells, at uptime: Int64) -> Bool {
        guard cells.bad > 0, let rules = self.sharingRules else { return false }
        return rules.share(reachedBy: cells.sums(inGeneration: self.present.windowGeneration, at: uptime).calls) != nil
    }

    /// Whether nothing waits in the lanes.
    var isPublished: Bool { self.lanes.isEmpty && self.durations.isEmpty }
}
