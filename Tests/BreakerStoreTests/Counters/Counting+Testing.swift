@testable import BreakerStore

extension CircuitCells {
    var totals: CellTotals { self.totalsCell.totals }

    /// What a process does each tick.
    func publish(_ lanes: borrowing Lanes, windowGeneration: WindowGeneration = 1, clock: () -> Uptime) {
        let counts = lanes.drain()
        self.addToTotals(counts, DurationLane())
        self.addToWindows(good: counts.succeeded, inGeneration: windowGeneration, at: clock())
    }

    /// Counts an end after what the lanes have.
    ///
    /// - Parameter isLate: whether the end counts in totals alone.
    func count(
        _ end: CountedFailure, by worker: WorkerID = 1, windowGeneration: WindowGeneration = 1,
        lanes: borrowing Lanes = Lanes(),
        isLate: Bool = false,
        clock: () -> Uptime
    ) {
        self.publish(lanes, windowGeneration: windowGeneration, clock: clock)
        if !isLate {
            let missing = self.addToWindows(end, by: worker, inGeneration: windowGeneration, at: clock())
            if !missing.isEmpty, self.clearCorruptFutureTicks(inGeneration: windowGeneration, currentUptime: clock) {
                _ = self.addToWindows(end, by: worker, inGeneration: windowGeneration, at: clock(), of: missing)
            }
        }
        self.addToTotals(end)
    }

    func sums(windowGeneration: WindowGeneration = 1, at uptime: Uptime) -> Circuit.WindowCounts {
        let sums = self.sums(inGeneration: windowGeneration, at: uptime)
        guard sums.hasFutureTicks,
            self.clearCorruptFutureTicks(inGeneration: windowGeneration, currentUptime: { uptime })
        else { return sums.calls }
        return self.sums(inGeneration: windowGeneration, at: uptime).calls
    }
}

extension CircuitCounts {
    /// The circuit of this incarnation is there, and closed.
    @discardableResult
    func update(
        incarnation: Int64?, _ rules: Rules, epoch: Epoch, windowGeneration: WindowGeneration = 1,
        if isCurrent: () -> Bool = { true }
    ) -> Bool {
        self.update(
            incarnation.map { ($0, $0) }, rules, epoch: epoch, windowGeneration: windowGeneration, if: isCurrent)
    }

    /// Counts a failing end of the circuit's fifth epoch.
    func fail(on board: Board? = nil) {
        _ = self.count(
            .failed, of: .file(epoch: 5), by: 1, in: self.makeCellPair(on: board, making: .alone),
            clock: { 1_000_000 }, isCurrent: { true })
    }
}

extension LaneCounts {
    var isEmpty: Bool { self == LaneCounts() }
}

extension CountedFailure {
    static let failed = CountedFailure(isFailed: true, isSlow: false)
    static let slow = CountedFailure(isFailed: false, isSlow: true)
}

extension Board.RoomMaking {
    /// Of the only process.
    static var alone: Self {
        Self(
            exclusively: { (body) throws(BreakerStoreError) in try body() }, mayGrow: { true }, incarnations: { nil },
            growthFailed: {})
    }
}

extension WindowCount {
    var good: Int64 { self.calls - self.bad }
}

extension Board {
    /// The workers that are noted as degraded, as other programs read them.
    func degraded() -> [Degraded] { BoardReader(at: self.path)?.degraded() ?? [] }
}

extension CountingRules {
    init(failureWindow: Int64? = nil, slowWindow: Int64? = nil, measuresDurations: Bool) {
        self.init()
        self.measuresDurations = measuresDurations
        self.failureWindow = failureWindow
        self.slowWindow = slowWindow
    }

    init(failureWindow: Int64) { self.init(failureWindow: failureWindow, measuresDurations: false) }

    init(slowWindow: Int64) { self.init(slowWindow: slowWindow, measuresDurations: false) }
}

extension Foreign {
    /// The first value of the first row, where it is a number.
    static func number(_ path: String, _ sql: String) -> Int64? { Self.value(path, sql).flatMap { Int64($0) } }
}
