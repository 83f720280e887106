import CBreakerStore

/// The counters of one circuit: on the board for all processes of the host, or in this process's own memory.
///
/// Both keep the same numbers, by the same code.
final class CircuitCounter: Sendable {
    let rules: CountingRules
    /// The board that has the cells; nil if they are private.
    let board: Board?
    let block: CountBlock
    private let failing: LookRing?
    private let slow: LookRing?
    private let durations: SharedWords?
    private let own: PrivateCells?

    /// Finds the circuit's cells on the board, or takes new ones; throws if the board has no room and can't grow.
    ///
    /// - Parameters:
    ///   - birth: the number that the circuit was born with; it stands in the circuit's row.
    ///   - grow: makes room on the board; see `Board.cell`.
    init(
        birth: Int64, _ rules: CountingRules, on board: Board, growing grow: Board.Growth
    ) throws(BreakerStoreError) {
        func cell(_ kind: BoardKind, _ key: UInt64) throws(BreakerStoreError) -> SharedWords {
            try board.cell(kind, key, growing: grow)
        }
        let key = UInt64(bitPattern: birth)
        let block = CountBlock(words: try cell(.block, key))
        self.rules = rules
        self.board = board
        self.block = block
        self.own = nil
        self.failing =
            rules.failureWindow == nil
            ? nil : LookRing(words: try cell(.ring, key), block: block, subject: .failed)
        self.slow =
            rules.slowWindow == nil
            ? nil : LookRing(words: try cell(.ring, BoardKind.slowKey(key)), block: block, subject: .slow)
        self.durations = rules.measuresDurations ? try cell(.durations, key) : nil
    }

    /// The totals that the board has of a circuit; nil if they are not there.
    convenience init?(left birth: Int64, on board: Board) {
        try? self.init(
            birth: birth, CountingRules(), on: board,
            growing: { (_) throws(BreakerStoreError) in throw BreakerStoreError(code: .full, message: "", path: nil) })
    }

    /// Counts in this process's memory, from zero.
    init(privately rules: CountingRules) {
        var size = 0
        // There may be very many circuits: none takes memory for what its rules don't ask for.
        func place(_ kind: BoardKind, if isNeeded: Bool = true) -> Int? {
            guard isNeeded else { return nil }
            defer { size += kind.words }
            return size
        }
        let block = place(.block) ?? 0
        let failing = place(.ring, if: rules.failureWindow != nil)
        let slow = place(.ring, if: rules.slowWindow != nil)
        let durations = place(.durations, if: rules.measuresDurations)
        let own = PrivateCells(words: size)
        self.rules = rules
        self.board = nil
        self.own = own
        self.block = CountBlock(words: own.words(from: block))
        let counts = self.block
        self.failing = failing.map { LookRing(words: own.words(from: $0), block: counts, subject: .failed) }
        self.slow = slow.map { LookRing(words: own.words(from: $0), block: counts, subject: .slow) }
        self.durations = durations.map { own.words(from: $0) }
    }

    /// Copies numbers that were read elsewhere, so that the code of this class can sum them up; nothing is added.
    convenience init(
        copying block: [UInt64], failing: [UInt64]?, slow: [UInt64]?, durations: [UInt64]?, _ rules: CountingRules
    ) {
        self.init(privately: rules)
        func copy(_ words: [UInt64]?, to cell: SharedWords?) {
            guard let words, let cell else { return }
            for (place, word) in words.enumerated() { cell[place] = word }
        }
        copy(block, to: self.block.words)
        copy(failing, to: self.failing?.words)
        copy(slow, to: self.slow?.words)
        copy(durations, to: self.durations)
    }

    /// Whether the numbers that are added here reach nobody: the board was cut or replaced, or this process is a fork.
    var isLost: Bool { self.board?.isLost ?? false }

    // MARK: - Counting

    /// Adds the counts that were taken from lanes.
    func publish(_ counts: LaneCounts) {
        if !counts.isEmpty { self.touching { self.block.add(counts) } }
    }

    /// Writes a first look into each window that has none yet, before anything is added.
    ///
    /// Otherwise the calls that are added first would be missing in the window: the circuit might not trip for want of
    /// calls, or trip though the missing calls went well.
    func lookFirst(epoch: Int64, clock: () -> Int64) {
        self.touching {
            if let window = self.rules.failureWindow {
                self.failing?.lookFirst(at: clock(), epoch: epoch, window: window, clock: clock)
            }
            if let window = self.rules.slowWindow {
                self.slow?.lookFirst(at: clock(), epoch: epoch, window: window, clock: clock)
            }
        }
    }

    func publish(_ durations: borrowing DurationCell) {
        guard let cell = self.durations else { return }
        let touch = self.beginTouching()
        durations.publish(to: cell)
        self.end(touch)
    }

    /// Writes the looks that are due: called each tick, once the lanes are moved.
    ///
    /// Returns whether anything has changed within a window.
    func look(epoch: Int64, clock: () -> Int64) -> Bool {
        self.touching {
            var isAny = false
            if let window = self.rules.failureWindow, let ring = self.failing {
                isAny = ring.look(epoch: epoch, window: window, clock: clock)
            }
            if let window = self.rules.slowWindow, let ring = self.slow {
                isAny = ring.look(epoch: epoch, window: window, clock: clock) || isAny
            }
            return isAny
        }
    }

    /// Counts a failing or slow end at once, where a kill can't lose it.
    ///
    /// The order matters. First a look: without one this end would be before the window, not within it. Then the lanes:
    /// the good ends that this process had before this one must be in the sums that decide. Then the call itself, and
    /// that it was slow last: so no process sees a slow call that is not among the calls.
    ///
    /// - Parameter good: takes the counts of the lanes, and hands them over to be added; called once the looks are
    ///   done.
    func count(
        _ end: BadEnd, by worker: Int64, epoch: Int64, good: ((LaneCounts) -> Void) -> Void = { _ in },
        clock: () -> Int64
    ) {
        // The good ends that come along with a late one are within the present window.
        if end.isLate { self.lookFirst(epoch: epoch, clock: clock) }
        let touch = self.beginTouching()
        defer { self.end(touch) }
        if end.isLate {
            good { self.block.add($0) }
            return self.countLate(end)
        }
        let failing = self.window(self.failing, self.rules.failureWindow)
        let slow = self.window(self.slow, self.rules.slowWindow)
        let failedAt = Self.look(failing, isBad: end.isFailed, epoch, clock)
        let slowAt = Self.look(slow, isBad: end.isSlow, epoch, clock)
        good { self.block.add($0) }
        self.block.add(1, to: end.isFailed ? .failed : .succeeded)
        if end.isSlow { self.block.add(1, to: .slow) }
        if let failedAt { failing?.ring.note(reporter: worker, at: failedAt) }
        if let slowAt { slow?.ring.note(reporter: worker, at: slowAt) }
    }

    /// Looks before an end is counted; returns the uptime of the end if this window's rule calls the end bad.
    ///
    /// An end that is bad to one rule may be good to the other, whose window must hold the end, too.
    private static func look(
        _ window: (ring: LookRing, size: Int64)?, isBad: Bool, _ epoch: Int64, _ clock: () -> Int64
    ) -> Int64? {
        guard let (ring, size) = window else { return nil }
        if isBad { return ring.lookBeforeEnd(epoch: epoch, window: size, clock: clock) }
        ring.lookFirst(at: clock(), epoch: epoch, window: size, clock: clock)
        return nil
    }

    private func countLate(_ end: BadEnd) {
        self.block.add(1, to: end.isFailed ? .lateFailed : .lateSucceeded)
        if end.isSlow { self.block.add(1, to: .lateSlow) }
    }

    private func window(_ ring: LookRing?, _ size: Int64?) -> (ring: LookRing, size: Int64)? {
        guard let ring, let size else { return nil }
        return (ring, size)
    }

    // MARK: - Deciding

    /// The sums of a rule's window just now; nil where nothing may be decided by them.
    func sums(_ subject: LookRing.Subject, at now: Int64, epoch: Int64) -> WindowSums? {
        guard !self.isLost, let (ring, window) = self.ring(subject) else { return nil }
        let sums = self.touching { ring.sums(at: now, epoch: epoch, window: window) }
        // The board may have been lost while it was read: then the totals were zeros.
        return self.isLost ? nil : sums
    }

    /// The workers whose calls ended badly at this uptime or later.
    func reporters(_ subject: LookRing.Subject, since start: Int64) -> [LookRing.Reporter] {
        guard let (ring, _) = self.ring(subject) else { return [] }
        return self.touching { ring.reporters(since: start) }
    }

    private func ring(_ subject: LookRing.Subject) -> (ring: LookRing, window: Int64)? {
        switch subject {
        case .failed: self.window(self.failing, self.rules.failureWindow).map { ($0.ring, $0.size) }
        case .slow: self.window(self.slow, self.rules.slowWindow).map { ($0.ring, $0.size) }
        }
    }

    var totals: BlockTotals { self.touching { self.block.totals } }

    /// How many calls have failed or were slow in windows; a number that only rises.
    var badCalls: UInt64 { self.touching { self.block[.failed] &+ self.block[.slow] } }

    /// The calls that each rule calls good and that were ever counted, or fewer; 0 where there is no such rule.
    var goodCallsAtLeast: (failed: Int64, slow: Int64) {
        self.touching { (self.failing?.goodCallsAtLeast ?? 0, self.slow?.goodCallsAtLeast ?? 0) }
    }

    /// The calls that each rule calls good and that were ever counted, or more.
    var goodCallsAtMost: (failed: Int64, slow: Int64) {
        self.touching { (self.failing?.goodCallsAtMost ?? 0, self.slow?.goodCallsAtMost ?? 0) }
    }

    // MARK: - Telling the file

    /// The numbers of the block, if the file has not been told them yet and this process is to tell them.
    ///
    /// All processes of the host see the same block. One process tells its numbers, and no other does within `pause`:
    /// each commit makes all processes read the circuits' states anew. A process that is killed before it has committed
    /// has told nothing: after `pause` another one takes the numbers.
    /// - Parameter pause: in microseconds.
    func takeToTell(at uptime: Int64, pause: Int64) -> (totals: BlockTotals, durations: DurationBuckets?)? {
        self.touching {
            let (totals, durations) = self.numbers
            let last = self.block[.toldAt]
            guard !self.isTold(totals, durations), self.block.isToTell(at: uptime, pause: pause),
                self.block.words.replace(last, with: UInt64(bitPattern: uptime), at: CountBlock.Word.toldAt.rawValue)
            else { return nil }
            return (totals, durations)
        }
    }

    private var numbers: (totals: BlockTotals, durations: DurationBuckets?) {
        (self.block.totals, self.durations.map { DurationBuckets($0) })
    }

    /// All these numbers only rise: another sum means that something has changed.
    ///
    /// Not all processes measure durations: those that don't would take a sum of both for another one.
    private func isTold(_ totals: BlockTotals, _ durations: DurationBuckets?) -> Bool {
        totals.sum == self.block[.told] && durations.map { $0.count == self.block[.toldDurations] } ?? true
    }

    /// Whether the file has been told all numbers of the block.
    var isTold: Bool {
        self.touching {
            let (totals, durations) = self.numbers
            return self.isTold(totals, durations)
        }
    }

    /// The file has been told these numbers: the transaction is committed.
    func told(_ totals: BlockTotals, _ durations: DurationBuckets?) {
        self.touching {
            self.block.words[CountBlock.Word.told.rawValue] = totals.sum
            if let durations { self.block.words[CountBlock.Word.toldDurations.rawValue] = durations.count }
        }
    }

    // MARK: - Moving to the board

    /// Takes all numbers and leaves zeros; nil once the file has been told any of them, for it keeps what it was told.
    func takeUntold() -> (totals: BlockTotals, durations: DurationBuckets?)? {
        self.touching {
            guard self.block[.toldAt] == 0, self.block[.told] == 0 else { return nil }
            return (self.block.takeTotals(), self.durations.map { DurationBuckets(taking: $0) })
        }
    }

    /// Adds calls that count in totals alone: nobody knows in which tick of a window they ended.
    func addLate(_ totals: BlockTotals, _ durations: DurationBuckets?) {
        self.touching {
            self.block.addLate(totals)
            if let cell = self.durations { durations?.add(to: cell) }
        }
    }

    // MARK: - Durations

    var durationBuckets: DurationBuckets? { self.durations.map { cell in self.touching { DurationBuckets(cell) } } }

    // MARK: - Touching the board

    /// Runs `body`, which reads or writes the cells, on a thread that a fault of the mapped file does not kill.
    @inline(__always)
    private func touching<Result>(_ body: () -> Result) -> Result {
        let touch = self.beginTouching()
        defer { self.end(touch) }
        return body()
    }

    @inline(__always)
    private func beginTouching() -> Int32 { self.board == nil ? 0 : bs_begin_touching() }

    @inline(__always)
    private func end(_ touch: Int32) { if touch != 0 { bs_end_touching(touch) } }
}
