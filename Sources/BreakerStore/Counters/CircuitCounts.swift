import Synchronization

/// This process's counts of the calls through one circuit, for all its stores on the file.
final class CircuitCounts: Sendable {
    /// Counts calls that succeeded, were ignored or were refused.
    let lanes = Lanes()

    /// What this process knows about the circuit.
    struct Known: Equatable, Sendable {
        var incarnation: Int64? {
            get { self.number > 0 ? self.number : nil }
            set { self.number = newValue ?? 0 }
        }
        /// The id of the circuit's row.
        var id: Int64 = 0
        var rules = CountingRules()
        /// Whether the file was read, and has no such circuit.
        var isMissing: Bool { self.number < 0 }
        /// 0 if the incarnation is not known, -1 if the circuit is missing: an optional number takes twice the memory.
        private var number: Int64 = 0

        mutating func setMissing() { self.number = -1 }
    }

    /// The cells to which the lanes are published; made when there is something to count.
    final class CellPair: Sendable {
        /// The cells for all processes; nil while there is no board, no room on it, or no known incarnation.
        let board: CircuitCells?
        /// The private cells: windows by which the in-memory fallback decides, and totals of the calls that could not
        /// go to a board.
        ///
        /// Nil only if all three hold: there is a board, no rule has a window, and the pair before had no private
        /// cells.
        let own: CircuitCells?

        /// The incarnation and the rules for which these cells were made.
        let made: Known

        /// - Parameter old: the current pair; the new pair continues its private counts.
        init(board: CircuitCells?, for made: Known, after old: CellPair?) {
            self.board = board
            self.made = made
            let isNeeded = board == nil || made.rules.shortestWindow != nil || old?.own != nil
            if let own = old?.own, own.rules == made.rules {
                self.own = own
            } else {
                self.own = isNeeded ? CircuitCells(privately: made.rules, after: old?.own) : nil
            }
        }

        /// The cells whose windows decide: those on the board, or the private cells if the board is missing or lost.
        var deciding: CircuitCells? { self.board.flatMap { $0.isLost ? nil : $0 } ?? self.own }
    }

    struct State {
        var known = Known()
        /// The window generation of the circuit in the file, and the epoch with which it began, as they were last read.
        ///
        /// `windowGeneration` selects the buckets of the window; `epoch` rejects late results. Both change at each
        /// transition. The epoch here changes together with the window generation, under the lock; `lastEpoch` is the
        /// same epoch for calls, which take no lock.
        var windowGeneration: WindowGeneration = 0
        var epoch: Epoch = 0
        /// The circuit's rules, if one of them is a failure-rate or slow-call rule.
        var rateRules: Boxed<Rules>?
        var pair: CellPair?
        /// The private counts that the file has.
        var saved: Boxed<OwnCounts>?
    }

    let state = ForkSafeLock(State())

    /// Held while counts move from the lanes to the cells.
    let moving = ForkSafeLock((), rank: .counts)

    /// The uptime of the failure whose text was last written to the board; `Int64.min` before the first.
    let lastText = Atomic<Int64>(.min)

    /// The state now; in a child of `fork` it may be empty.
    var knownState: State { self.state.value(orInAChild: State()) }

    /// The threshold of the slow rule in microseconds; below zero if there is none.
    private let slowThreshold = Atomic<Int64>(-1)
    /// The `shortestWindow`, with 0 for nil.
    private let window = Atomic<Int64>(0)
    private let lastEpoch = Atomic<Int64>(0)
    private let lastFallbackEpoch = Atomic<Int64>(0)
    /// The window generation of the private windows; it rises by one with each new epoch, of the file or of the
    /// fallback.
    let ownGeneration = Atomic<Int64>(0)
    /// This process's part of the board's `bad`.
    let ownBad = Atomic<UInt64>(0)
    /// The other processes' part of it, when this process last compared.
    let othersBad = Atomic<UInt64>(0)
    /// Whether successes were published since the counting thread last checked whether they complete a window's minimum
    /// of calls.
    let hasUncheckedSuccesses = Atomic<Bool>(false)
    /// Whether a check of the circuit's failure rate waits for a thread.
    let isCheckWanted = Atomic<Bool>(false)
    /// Whether there are cells, and none of them is on a board.
    private let countsAlone = Atomic<Bool>(false)

    /// Applies a reading of the file, unless the file has changed since: another thread may have a newer reading.
    ///
    /// The first reading is applied even then: it is nearer to the file than the config of this process, and it
    /// replaces no newer reading.
    ///
    /// - Parameters:
    ///   - row: the row's id and the circuit's incarnation; nil before the file was read, when a config has the rules.
    ///   - isCurrent: whether the file has not changed since the reading; called under the lock `state`, so that an
    ///     older reading never replaces a newer.
    /// - Returns: whether the reading was applied.
    @discardableResult
    func update(
        _ row: (id: Int64, incarnation: Int64)?, _ rules: Rules, epoch: Epoch, windowGeneration: WindowGeneration,
        if isCurrent: () -> Bool = { true }
    ) -> Bool {
        if rules.slow != nil { self.measureDurations() }
        let measuresDurations = self.durations.isOpen
        var (isApplied, isOtherCircuit) = (false, false)
        self.state.change { state in
            guard self.lastEpoch.load(ordering: .relaxed) == 0 || isCurrent() else { return }
            isApplied = true
            if let row, let known = state.known.incarnation { isOtherCircuit = row.incarnation != known }
            if self.lastEpoch.exchange(epoch.rawValue, ordering: .relaxed) != epoch.rawValue {
                self.beginOwnGeneration()
            }
            (state.epoch, state.windowGeneration) = (epoch, windowGeneration)
            self.slowThreshold.store(rules.slow?.threshold.saturatingMicroseconds ?? -1, ordering: .relaxed)
            if let row { (state.known.id, state.known.incarnation) = row }
            state.known.rules = CountingRules(rules)
            state.known.rules.measuresDurations = measuresDurations
            let hasRateRule = state.known.rules.shortestWindow != nil
            if !hasRateRule || state.rateRules?.value != rules { state.rateRules = hasRateRule ? .value(rules) : nil }
            self.window.store(state.known.rules.shortestWindow ?? 0, ordering: .relaxed)
        }
        // Calls of a forgotten circuit must count neither in the windows nor in the durations of the next of its name.
        if isOtherCircuit {
            _ = self.lanes.drain()
            self.durations.drain()
        }
        return isApplied
    }

    /// Whether there are unsaved calls of a circuit that this process has never read: they can't be saved without the
    /// circuit's incarnation.
    var waitsForIncarnation: Bool { self.epoch == 0 && self.knownState.known.incarnation == nil && !self.isSaved }

    /// Records that the file has no such circuit, unless another thread has found one.
    func setMissing() { self.state.change { if $0.known.incarnation == nil { $0.known.setMissing() } } }

    /// Switches to the in-memory fallback, in this epoch of its own; nil switches back to the file.
    ///
    /// The loss of the file is no transition: earlier calls still count. The next epoch of the fallback, and the return
    /// to the file, begin new private windows.
    func setFallback(inEpoch epoch: Epoch?) {
        let last = Epoch(self.lastFallbackEpoch.exchange(epoch?.rawValue ?? 0, ordering: .relaxed))
        if last != 0, last != epoch { self.beginOwnGeneration() }
    }

    private func beginOwnGeneration() { self.ownGeneration.wrappingAdd(1, ordering: .relaxed) }

    // MARK: - Durations

    /// Counts durations until they are published.
    let durations = DurationLane()

    /// Starts to count durations.
    func measureDurations() {
        if self.durations.open() { self.state.change { $0.known.rules.measuresDurations = true } }
    }

    // MARK: - What is known

    /// Whether a call that took so many microseconds is slow.
    func isSlow(_ duration: Int64) -> Bool {
        let threshold = self.slowThreshold.load(ordering: .relaxed)
        return threshold >= 0 && duration > threshold
    }

    /// Whether a rule asks how long calls take.
    var hasSlowRule: Bool { self.slowThreshold.load(ordering: .relaxed) >= 0 }

    /// The epoch of the in-memory fallback while it decides; 0 while the file does.
    var fallbackEpoch: Epoch { Epoch(self.lastFallbackEpoch.load(ordering: .relaxed)) }

    /// The circuit's epoch, as it was last read.
    var epoch: Epoch { Epoch(self.lastEpoch.load(ordering: .relaxed)) }

    /// Whether the trip rule is a failure-rate rule: then no failure has a row.
    var hasFailureRateRule: Bool { self.knownState.known.rules.failureWindow != nil }

    /// The circuit's rules, if one of them is a failure-rate or slow-call rule.
    var rateRules: Rules? { self.knownState.rateRules?.value }

    /// The shortest window in microseconds; nil if there is neither a failure-rate nor a slow-call rule.
    var shortestWindow: Int64? {
        let window = self.window.load(ordering: .relaxed)
        return window == 0 ? nil : window
    }

    /// The cells for the circuit as this process knows it now; nil if they do not exist yet, or are lost.
    ///
    /// - Parameter board: nil while there is none.
    func pair(on board: Board?) -> CellPair? {
        let pair = self.state.read(orInAChild: State()) { state -> CellPair? in
            guard let pair = state.pair, pair.made == state.known else { return nil }
            return pair.board?.board === (state.known.incarnation == nil ? nil : board) ? pair : nil
        }
        return pair?.board?.isLost ?? false ? nil : pair
    }

    /// Makes the cells for the circuit as this process knows it now, unless they exist.
    ///
    /// - Parameters:
    ///   - board: nil while there is none.
    ///   - room: makes room on the board.
    func makeCellPair(on board: Board?, making room: Board.RoomMaking) -> CellPair {
        while true {
            if let pair = self.pair(on: board) { return pair }
            let state = self.knownState
            let known = state.known
            var cells: CircuitCells?
            if let board, let incarnation = known.incarnation {
                cells = try? CircuitCells(
                    ofID: known.id, incarnation: incarnation, known.rules, on: board, making: room)
            }
            Hook.reached("cells.making")
            var pair: CellPair?
            var isOutdated = false
            self.state.change { state in
                // Another thread may have read another incarnation since, and have counted calls under it: then the
                // loop begins again with that incarnation.
                isOutdated = known.incarnation != state.known.incarnation
                if isOutdated { return }
                // The new pair continues this circuit's private counts, also those that another thread has begun since.
                let madeFor = state.pair?.made.incarnation
                let isOfThisCircuit = madeFor == nil || madeFor == known.incarnation
                if !isOfThisCircuit { state.saved = nil }
                pair = CellPair(board: cells, for: known, after: isOfThisCircuit ? state.pair : nil)
                state.pair = pair
                self.countsAlone.store(cells == nil, ordering: .relaxed)
            }
            if isOutdated { continue }
            // In a child of `fork`, `change` does nothing: the child goes on counting in its copy of the parent's
            // private cells.
            return pair ?? CellPair(board: cells, for: known, after: state.pair)
        }
    }

    /// Releases the board; the windows of the in-memory fallback stay.
    func leaveBoard() {
        var released: CellPair?
        self.state.change { state in
            guard let old = state.pair, old.board != nil else { return }
            released = old
            state.pair = CellPair(board: nil, for: old.made, after: old)
            self.countsAlone.store(true, ordering: .relaxed)
        }
        // The last reference goes here, so that the board is unmapped while no lock is held.
        withExtendedLifetime(released) {}
    }

    /// Whether calls of this circuit are counted for this process alone: there is no board, or no room on it.
    ///
    /// Takes no lock: each second it is read for all circuits.
    var isPrivate: Bool { self.countsAlone.load(ordering: .relaxed) }

    /// The newest cells, even if the circuit's incarnation or rules have changed since.
    var madeCellPair: CellPair? { self.knownState.pair }
}
