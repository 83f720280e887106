import Synchronization

/// Counts and publishes calls, and reads the sums by which rules decide.
extension CircuitCounts {
    /// Publishes the counts of the lanes to the cells.
    ///
    /// - Parameter pair: called only if there is something to publish, or if the cells are private.
    func publish(clock: () -> Uptime, _ pair: () -> CellPair) {
        // If all calls of a circuit fail, only their durations wait here.
        guard !self.lanes.isEmpty || !self.durations.isEmpty else {
            // There may be a board by now, or room on it.
            if self.isPrivate { _ = pair() }
            return
        }
        let pair = pair()
        Hook.reached("counts.moving")
        let uptime = clock()
        self.whileNoOtherThreadPublishes { self.publishLanes(to: pair, at: uptime) }
    }

    /// How `publishWithoutWaiting` ended.
    enum Publication {
        /// All that was counted before the call is in the cells.
        case done
        /// Another thread is moving counts now, so some of them may be in neither the lanes nor the cells.
        case underWay
        /// There are no cells on this board yet: what was counted stays in the lanes.
        case lacksCells
    }

    /// Publishes the lanes to existing cells, for the counting thread; waits for no lock and no disk.
    ///
    /// - Parameter board: the open board; nil while there is none.
    func publishWithoutWaiting(on board: Board?, clock: () -> Uptime) -> Publication {
        guard !self.lanes.isEmpty || !self.durations.isEmpty else {
            // The lanes may be empty because another thread has just drained them.
            return self.moving.changeIfAvailable { _ in } ? .done : .underWay
        }
        // If the board has no room for the circuit, this process counts privately, and no other process waits for it.
        guard let pair = self.pair(on: board) ?? (self.isPrivate ? self.madeCellPair : nil) else { return .lacksCells }
        Hook.reached("counts.moving")
        let uptime = clock()
        return self.moving.changeIfAvailable { _ in self.publishLanes(to: pair, at: uptime) } ? .done : .underWay
    }

    /// The circuit's numbers that this process read last: epoch and window generation in the file, and the window
    /// generation of the private windows.
    private struct Current {
        var epoch: Epoch = 0
        var windowGeneration: WindowGeneration = 0
        var ownGeneration: WindowGeneration = 0

        func windowGeneration(of cells: CircuitCells) -> WindowGeneration {
            cells.board == nil ? self.ownGeneration : self.windowGeneration
        }
    }

    private var current: Current {
        let ownGeneration = WindowGeneration(self.ownGeneration.load(ordering: .relaxed))
        return self.state.read(orInAChild: State()) {
            Current(epoch: $0.epoch, windowGeneration: $0.windowGeneration, ownGeneration: ownGeneration)
        }
    }

    /// Publishes the lanes while `moving` is held; returns what this process knew just after draining them.
    @discardableResult
    private func publishLanes(to pair: CellPair, at uptime: Uptime) -> Current {
        let counts = self.lanes.drain()
        Hook.reached("counts.taken")
        // Read after the lanes are drained: so no call of a newer epoch is added to an older window, where it would be
        // lost. Lanes have no epochs: the last successes of an older epoch may get into the newer window.
        let current = self.current
        if counts != LaneCounts() || self.durations.isOpen {
            (pair.board ?? pair.own)?.addToTotals(counts, self.durations)
            pair.board?.addToWindows(good: counts.succeeded, inGeneration: current.windowGeneration, at: uptime)
            pair.own?.addToWindows(good: counts.succeeded, inGeneration: current.ownGeneration, at: uptime)
        }
        if counts.succeeded > 0 { self.hasUncheckedSuccesses.store(true, ordering: .releasing) }
        return current
    }

    /// Runs `body` while no other thread of this process moves counts from the lanes to the cells.
    ///
    /// A thread that read the sums during such a move would miss successes, and would trip the circuit too early.
    private func whileNoOtherThreadPublishes(_ body: () -> Void) {
        var isDone = false
        self.moving.change { _ in
            body()
            isDone = true
        }
        // In a child of `fork`, `change` does nothing, because a thread of the parent may have held the lock.
        if !isDone { body() }
    }

    /// Which circuit let a failed or slow call through.
    enum Origin: Sendable {
        /// No circuit with a failure-rate rule: the call counts in totals only.
        case none
        /// The circuit in the file, in this epoch.
        case file(epoch: Epoch)
        /// The in-memory fallback, in this epoch of its own.
        case fallback(epoch: Epoch)
    }

    /// Counts a failed or slow call at once, where a kill can't lose it; returns the calls by which a rule decides.
    ///
    /// In this order:
    /// 1. The lanes are published: the sums that decide must include the earlier successes of this process.
    /// 2. The call is added to the windows, first to those on the board, unless the circuit has left the call's epoch.
    /// 3. The call is added to the totals, by which other processes notice that the windows have changed.
    /// 4. The windows are summed. The sums include this call, and miss no earlier success of this process.
    ///
    /// - Parameter isCurrent: asks the file, without waiting, whether the circuit is still in the epoch that let the
    ///   call through.
    func count(
        _ call: CountedFailure, of origin: Origin, by worker: WorkerID, in pair: CellPair, clock: () -> Uptime,
        isCurrent: () -> Bool
    ) -> Circuit.WindowCounts {
        let uptime = clock()
        let isOfFallback = if case .fallback = origin { true } else { false }
        let deciding = isOfFallback ? pair.own : pair.deciding
        var current = Current()
        var countsInTotalsOnly = false
        var rejected: [WindowSubject] = []
        var sums = CircuitCells.Sums()
        self.whileNoOtherThreadPublishes {
            current = self.publishLanes(to: pair, at: uptime)
            countsInTotalsOnly = self.countsInTotalsOnly(origin, current)
            if !countsInTotalsOnly {
                rejected =
                    pair.board?.addToWindows(call, by: worker, inGeneration: current.windowGeneration, at: uptime) ?? []
                _ = pair.own?.addToWindows(call, by: worker, inGeneration: current.ownGeneration, at: uptime)
            }
            self.addToTotals(call, in: pair)
            if !countsInTotalsOnly, let deciding {
                sums = deciding.sums(inGeneration: current.windowGeneration(of: deciding), at: uptime)
            }
        }
        guard !countsInTotalsOnly, let deciding else { return Circuit.WindowCounts() }
        if rejected.isEmpty, !sums.hasFutureTicks, deciding.isOneTick(uptime, clock()) { return sums.calls }
        if !rejected.isEmpty, let board = pair.board {
            let hasCleared = board.clearCorruptFutureTicks(
                inGeneration: current.windowGeneration, currentUptime: { isCurrent() ? clock() : nil })
            if hasCleared {
                _ = board.addToWindows(
                    call, by: worker, inGeneration: current.windowGeneration, at: clock(), of: rejected)
            }
        }
        return self.sums(
            of: deciding, inGeneration: { current.windowGeneration(of: deciding) },
            isCurrent: deciding.board == nil ? { true } : isCurrent, clock)
    }

    private func addToTotals(_ call: CountedFailure, in pair: CellPair) {
        // The order matters: `ownBad` first, then the board. A thread that compares between the two additions sees one
        // failure of others too few. It rechecks once for nothing, and sees a real failure in the next round at the
        // latest. In the opposite order it would see one too many, and the next real failure would look like no change.
        if pair.board != nil {
            self.ownBad.wrappingAdd((call.isFailed ? 1 : 0) + (call.isSlow ? 1 : 0), ordering: .relaxed)
        }
        (pair.board ?? pair.own)?.addToTotals(call)
    }

    /// Whether the call counts in totals only: no rule counts it, or the circuit has left the epoch that let the call
    /// through.
    ///
    /// Calls that the in-memory fallback let through also go to the board, in the window generation that this process
    /// last read: other processes count them, while the fallback decides by the private windows.
    private func countsInTotalsOnly(_ origin: Origin, _ current: Current) -> Bool {
        switch origin {
        case .none: true
        case .file(let epoch): epoch != current.epoch
        case .fallback(let epoch): epoch != self.fallbackEpoch
        }
    }

    // MARK: - Deciding

    /// The calls in the windows by which a rule decides; none if the circuit has left this epoch.
    func sums(inEpoch epoch: Epoch, of cells: CircuitCells, clock: () -> Uptime) -> Circuit.WindowCounts {
        func windowGeneration() -> WindowGeneration? {
            let current = self.current
            return current.epoch == epoch ? current.windowGeneration(of: cells) : nil
        }
        // Nothing asks the file here, so no bucket is taken for damage, and none is cleared.
        return self.sums(of: cells, inGeneration: windowGeneration, isCurrent: { false }, clock)
    }

    /// The sums of the windows; none if ticks end faster than this thread can read.
    ///
    /// The sums are read again if a tick ended during the read.
    ///
    /// The clock, which may be the user's code, is read while no lock is held.
    private func sums(
        of cells: CircuitCells, inGeneration windowGeneration: () -> WindowGeneration?, isCurrent: () -> Bool,
        _ clock: () -> Uptime
    ) -> Circuit.WindowCounts {
        func currentUptime() -> Uptime? { isCurrent() ? clock() : nil }
        for _ in 0..<8 {
            let uptime = clock()
            var sums = CircuitCells.Sums()
            guard let windowGeneration = windowGeneration() else { break }
            self.whileNoOtherThreadPublishes { sums = cells.sums(inGeneration: windowGeneration, at: uptime) }
            if sums.hasFutureTicks,
                cells.clearCorruptFutureTicks(inGeneration: windowGeneration, currentUptime: currentUptime)
            {
                continue
            }
            if cells.isOneTick(uptime, clock()) { return sums.calls }
        }
        return Circuit.WindowCounts()
    }

    /// Stores how many failed and slow calls other processes have added to the board; returns whether the number has
    /// changed.
    func updateFailuresOfOthers(on cells: CircuitCells) -> Bool {
        let bad = cells.bad &- self.ownBad.load(ordering: .relaxed)
        return self.othersBad.exchange(bad, ordering: .relaxed) != bad
    }

    /// Whether a failure rate may be reached by now; takes no lock that is held for long.
    ///
    /// May be wrong: a caller that acts on it sums the windows again.
    func mayReachRate(on cells: CircuitCells, at uptime: Uptime) -> Bool {
        guard cells.bad > 0, let rules = self.rateRules else { return false }
        return rules.rate(reachedBy: cells.sums(inGeneration: self.current.windowGeneration, at: uptime).calls) != nil
    }

    /// Whether nothing waits in the lanes.
    var isPublished: Bool { self.lanes.isEmpty && self.durations.isEmpty }
}
