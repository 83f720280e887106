import Synchronization

/// The counts that this process keeps of the calls through one circuit, in all its stores on the file.
final class CircuitCounts: Sendable {
    /// Counts calls that went well, were ignored or were refused.
    let lanes = Lanes()

    /// What this process has read in the file about the circuit.
    struct Known: Equatable, Sendable {
        var birth: Int64? {
            get { self.number > 0 ? self.number : nil }
            set { self.number = newValue ?? 0 }
        }
        var rules = CountingRules()
        /// Whether the file was read, and has no such circuit.
        var isMissing: Bool { self.number < 0 }
        /// 0 where none is known: an optional number takes twice the memory.
        private var number: Int64 = 0

        mutating func noteMissing() { self.number = -1 }
    }

    /// Where the numbers go; made when there is something to count.
    final class Counters: Sendable {
        /// On the board; nil while there is none.
        let shared: CircuitCounter?
        /// This process's own calls, by which memory guards; nil where no rule has a window.
        let own: CircuitCounter?
        /// The calls that could not go to a board; the file is told their totals under this process's own number.
        let stray: CircuitCounter?

        /// The birth and the rules for which these counters were made.
        let made: Known

        /// - Parameter old: the counters until now; the private ones among them go on if they fit the rules.
        init(shared: CircuitCounter?, for made: Known, after old: Counters?) {
            self.shared = shared
            self.made = made
            let rules = made.rules
            let hasWindow = rules.failureWindow ?? rules.slowWindow != nil
            self.own = !hasWindow ? nil : old?.own?.rules == rules ? old?.own : CircuitCounter(privately: rules)
            // No window is looked at there: all that is needed beside totals is a place for durations.
            let stray = CountingRules(measuresDurations: true)
            self.stray = old?.stray ?? (shared == nil ? CircuitCounter(privately: stray) : nil)
        }

        /// The counters whose windows decide: those on the board, or else this process's own.
        var deciding: CircuitCounter? { self.shared.flatMap { $0.isLost ? nil : $0 } ?? self.own }
    }

    struct State {
        var known = Known()
        /// The circuit's rules, if one of them is about a share of the calls.
        var sharing: Boxed<Rules>?
        var counters: Counters?
        var error: LastError?
        /// What the file was told last of the calls that could not go to a board.
        var strays: Boxed<StrayNumbers>?
    }

    let state = ForkSafeLock(State())

    /// Held while counts are on their way from the lanes to the counters.
    private let moving = ForkSafeLock((), rank: .counts)

    /// Whether there may be private counts that belong on the board: there was none when they were counted.
    private let hasStrays = Atomic<Bool>(false)

    /// Whether the file has been told the error that was kept last: then the next one is kept.
    let wantsError = Atomic<Bool>(true)

    /// The state just now; in a child of `fork` it may be empty.
    var present: State { self.state.value(orInAChild: State()) }

    /// The threshold of the slow rule in microseconds; below zero if there is none.
    private let threshold = Atomic<Int64>(-1)
    /// The shortest window of a rule; 0 if none has one.
    private let window = Atomic<Int64>(0)
    private let lastEpoch = Atomic<Int64>(0)
    /// The epoch of the circuit in memory, while memory guards; 0 while the file does.
    private let epochInMemory = Atomic<Int64>(0)
    /// How many bad calls this process has added to the board.
    private let ownBadCalls = Atomic<UInt64>(0)
    /// How many of other processes the board had when this process last looked.
    private let othersBadCalls = Atomic<UInt64>(0)
    /// The epoch in which this process first saw the present circuit, if it knew another one of that name before;
    /// otherwise `Int64.min`.
    private let firstEpoch = Atomic<Int64>(.min)
    /// The last epoch of that former circuit, as far as this process knows.
    private let lastFormerEpoch = Atomic<Int64>(.min)

    /// Takes over what was read, unless the file has changed since: another thread may have read something newer.
    ///
    /// - Parameter isCurrent: whether the file is as it was when it was read; asked under the lock, so that no newer
    ///   reading is overwritten.
    /// - Returns: whether it was taken over.
    @discardableResult
    func know(birth: Int64?, _ rules: Rules, epoch: Int64, if isCurrent: () -> Bool = { true }) -> Bool {
        if rules.slow != nil { self.measureDurations() }
        let measuresDurations = self.durations.isOpen
        var former: State?
        var isTaken = false
        self.state.change { state in
            guard self.lastEpoch.load(ordering: .relaxed) == 0 || isCurrent() else { return }
            isTaken = true
            if let birth, let known = state.known.birth, birth != known {
                former = self.beginAnew(epoch: epoch, &state)
            }
            self.lastEpoch.store(epoch, ordering: .relaxed)
            self.threshold.store(rules.slow?.threshold ?? -1, ordering: .relaxed)
            // A circuit as it was just registered does not show its birth yet: the one that was known stays.
            state.known.birth = birth ?? state.known.birth
            state.known.rules = CountingRules(rules)
            state.known.rules.measuresDurations = measuresDurations
            let isSharing = state.known.rules.shortestWindow != nil
            if !isSharing || state.sharing?.value != rules { state.sharing = isSharing ? .value(rules) : nil }
            self.window.store(state.known.rules.shortestWindow ?? 0, ordering: .relaxed)
        }
        guard former != nil else { return isTaken }
        // Nobody can be told these counts any more: the totals of the former circuit went with its row.
        self.lanes.begin(with: epoch)
        _ = self.lanes.take()
        self.durations.clear()
        self.wantsError.store(true, ordering: .relaxed)
        return true
    }

    /// Whether there are calls that the file has not been told, of a circuit that this process has never read: nobody
    /// knows its birth, without which the file can't be told.
    var waitsForBirth: Bool { self.epoch == 0 && self.present.known.birth == nil && !self.isTold }

    /// Notes that the file has no such circuit, unless another thread has found one.
    func noteMissing() { self.state.change { if $0.known.birth == nil { $0.known.noteMissing() } } }

    /// Memory guards the circuit from now on, in this epoch of its own; nil: the file guards it again.
    func guardsInMemory(_ epoch: Int64?) { self.epochInMemory.store(epoch ?? 0, ordering: .relaxed) }

    /// The epoch of the looks in this process's own windows.
    private var ownEpoch: Int64 {
        let epoch = self.epochInMemory.load(ordering: .relaxed)
        return epoch == 0 ? self.epoch : epoch
    }

    /// Somebody has forgotten the circuit, or put another file in place, and there is a new circuit of this name: none
    /// of the former circuit's calls count for the new one.
    ///
    /// - Returns: what was known, to be let go of outside of the lock.
    private func beginAnew(epoch: Int64, _ state: inout State) -> State {
        self.lastFormerEpoch.max(self.epoch, ordering: .relaxed)
        self.firstEpoch.store(epoch, ordering: .relaxed)
        defer { state = State() }
        return state
    }

    /// Whether a call that was let through under this epoch was a former circuit's of this name.
    func isFormer(epoch: Int64) -> Bool {
        let first = self.firstEpoch.load(ordering: .relaxed)
        guard first != .min else { return false }
        // A file that was put in place may have any epochs: a call that may be the present circuit's is taken for one.
        return (epoch < first || epoch > self.epoch) && epoch <= self.lastFormerEpoch.load(ordering: .relaxed)
    }

    // MARK: - Durations

    /// Counts durations until they are published.
    let durations = DurationCell()

    /// Counts durations from now on.
    func measureDurations() {
        if self.durations.open() { self.state.change { $0.known.rules.measuresDurations = true } }
    }

    /// Counts how long a call took, in microseconds.
    func add(duration: Int64) { self.durations.add(duration) }

    // MARK: - What is known

    /// Whether a call that took so many microseconds is slow.
    func isSlow(_ duration: Int64) -> Bool {
        let threshold = self.threshold.load(ordering: .relaxed)
        return threshold >= 0 && duration > threshold
    }

    /// Whether a rule asks how long calls take.
    var hasSlowRule: Bool { self.threshold.load(ordering: .relaxed) >= 0 }

    /// The circuit's epoch, as it was read last.
    var epoch: Int64 { self.lastEpoch.load(ordering: .relaxed) }

    /// Whether the trip rule counts a share of failures: then no row is kept of a failure.
    var countsFailures: Bool { self.present.known.rules.failureWindow != nil }

    /// The circuit's rules, if one of them is about a share of the calls.
    var sharingRules: Rules? { self.present.sharing?.value }

    /// The shortest window of a rule in microseconds; nil if no rule counts a share of the calls.
    var shortestWindow: Int64? {
        let window = self.window.load(ordering: .relaxed)
        return window == 0 ? nil : window
    }

    /// The counters for the circuit as it is known now.
    ///
    /// - Parameters:
    ///   - board: nil while there is none.
    ///   - grow: makes room on the board.
    func makeCounters(on board: Board?, growing grow: Board.Growth) -> Counters {
        while true {
            let state = self.present
            let known = state.known
            let isOnBoard = board != nil && known.birth != nil
            if let counters = state.counters, counters.made == known,
                counters.shared?.board === (isOnBoard ? board : nil)
            {
                return counters
            }
            var shared: CircuitCounter?
            if let board, let birth = known.birth {
                shared = try? CircuitCounter(birth: birth, known.rules, on: board, growing: grow)
            }
            Hook.reached("counters.making")
            var counters = Counters(shared: shared, for: known, after: nil)
            var isBirthNew = false
            self.state.change { state in
                // Another thread may have learned the birth meanwhile, and have counted calls for it.
                isBirthNew = known.birth == nil && state.known.birth != nil
                // If the circuit was forgotten meanwhile, its calls don't count for the one that has its name now.
                guard known.birth == state.known.birth else { return }
                // Another thread may have made counters in this moment: the calls that it has counted there must not
                // be lost.
                let isSame = known.birth == state.counters?.made.birth || state.counters?.made.birth == nil
                counters = Counters(shared: shared, for: known, after: isSame ? state.counters : nil)
                state.counters = counters
            }
            if !isBirthNew { return counters }
        }
    }

    /// Lets go of the board; the windows by which memory guards stay.
    func leaveBoard() {
        guard let old = self.madeCounters, old.shared != nil else { return }
        let own = Counters(shared: nil, for: old.made, after: old)
        self.state.change { $0.counters = own }
    }

    /// The counters that were made last.
    var madeCounters: Counters? { self.present.counters }

    // MARK: - Counting

    /// Moves the counts of the lanes to the counters; returns whether there were any.
    ///
    /// - Parameter counters: asked only if there is anything to move.
    @discardableResult
    func publish(clock: () -> Int64, _ counters: () -> Counters) -> Bool {
        let hasStrays = self.hasStrays.load(ordering: .relaxed)
        // Of a circuit whose calls all fail only the durations wait here.
        guard !self.lanes.isEmpty || !self.durations.isEmpty || hasStrays else { return false }
        let counters = counters()
        if hasStrays { self.moveStrays(counters) }
        var counts = LaneCounts()
        var isMoved = false
        while !isMoved {
            let epochs = (self.epoch, self.ownEpoch)
            counters.shared?.lookFirst(epoch: epochs.0, clock: clock)
            counters.own?.lookFirst(epoch: epochs.1, clock: clock)
            Hook.reached("counts.moving")
            self.whileNothingMoves {
                counts.add(self.lanes.take())
                // If another epoch has begun meanwhile, calls of that one may be among them. They must be in its
                // window, which needs a look before them.
                guard epochs == (self.epoch, self.ownEpoch) else { return }
                Hook.reached("counts.taken")
                (counters.shared ?? counters.stray)?.publish(self.durations)
                (counters.shared ?? counters.stray)?.publish(counts)
                counters.own?.publish(counts)
                isMoved = true
            }
        }
        self.noteStrays(counters)
        return true
    }

    /// Runs `body` while no other thread of this process moves counts from the lanes to the counters.
    ///
    /// Whoever looked at the sums in that moment would miss calls that went well, and trip the circuit too early.
    func whileNothingMoves(_ body: () -> Void) {
        var isDone = false
        self.moving.change { _ in
            body()
            isDone = true
        }
        // In a child of `fork` a thread that no longer exists may hold the lock.
        if !isDone { body() }
    }

    private func noteStrays(_ counters: Counters) {
        if counters.shared == nil { self.hasStrays.store(true, ordering: .relaxed) }
    }

    /// Moves to the board what was counted privately while the board was only late: another process had been opening
    /// the store.
    ///
    /// A thread that still counts privately just now is not waited for: its count is told to the file.
    private func moveStrays(_ counters: Counters) {
        guard let stray = counters.stray, !stray.isTold else { return self.hasStrays.store(false, ordering: .relaxed) }
        guard let shared = counters.shared, !shared.isLost else { return }
        self.hasStrays.store(false, ordering: .relaxed)
        var untold: (totals: BlockTotals, durations: DurationBuckets?)?
        self.state.change { _ in untold = stray.takeUntold() }
        if let (totals, durations) = untold { shared.addLate(totals, durations) }
    }

    /// Looks at the totals of rules that have a window; returns whether anything has changed within it.
    @discardableResult
    func look(_ counters: Counters, epoch: Int64, clock: () -> Int64) -> Bool {
        let hasOwn = counters.own?.look(epoch: self.ownEpoch, clock: clock) ?? false
        return counters.shared?.look(epoch: epoch, clock: clock) ?? hasOwn
    }

    /// Notes how many bad calls other processes have added to the board.
    ///
    /// Returns whether there were others when this was last noted.
    func noteBadCallsOfOthers(on counter: CircuitCounter) -> Bool {
        let bad = counter.badCalls &- self.ownBadCalls.load(ordering: .relaxed)
        return self.othersBadCalls.exchange(bad, ordering: .relaxed) != bad
    }

    /// Counts a failing or slow end at once, where a kill can't lose it.
    ///
    /// - Parameter ownEpoch: the epoch of the circuit in memory, if memory has let the call through.
    func count(
        _ end: BadEnd, by worker: Int64, epoch: Int64, ownEpoch: Int64?, in counters: Counters, clock: () -> Int64
    ) {
        let ownEpoch = ownEpoch ?? self.ownEpoch
        counters.own?.lookFirst(epoch: ownEpoch, clock: clock)
        func moveGood(_ add: (LaneCounts) -> Void) {
            self.whileNothingMoves {
                let counts = self.lanes.take()
                add(counts)
                counters.own?.publish(counts)
            }
        }
        // Before the board has the end: a thread that looks in between takes it for news, and misses none of others.
        if !end.isLate, counters.shared != nil {
            self.ownBadCalls.wrappingAdd((end.isFailed ? 1 : 0) + (end.isSlow ? 1 : 0), ordering: .relaxed)
        }
        (counters.shared ?? counters.stray)?.count(end, by: worker, epoch: epoch, good: moveGood, clock: clock)
        self.noteStrays(counters)
        counters.own?.count(end, by: worker, epoch: ownEpoch, clock: clock)
    }
}
