/// A read-only view of a file's board, for one snapshot of the file.
///
/// It reads the board without mapping it.
final class BoardView {
    private let reader: BoardReader?
    private let clock: StoreClock
    private let uptime: Uptime
    /// All totals by incarnation, once more than `maxLookups` circuits were asked for.
    private var allTotals: [Int64: CellTotals]?
    private var lookups = 0

    /// Up to this many circuits are looked up one by one; for more, the whole board is read.
    private static let maxLookups = 16

    /// Opens the board beside a file, if it belongs to this file and to this boot.
    ///
    /// - Parameter incarnation: the file's; nil: no board.
    init(of file: StoreFile, incarnation: Int64?, _ clock: StoreClock) {
        self.clock = clock
        self.uptime = clock.uptime
        let reader = incarnation == nil ? nil : BoardReader(at: file.board)
        let owner = incarnation.map { BoardHeader.Owner(bootID: clock.host.bootID, incarnation: $0) }
        self.reader = reader?.header.owner == owner ? reader : nil
    }

    /// The board's number, under which the file saves its counters.
    var number: Int64? { self.reader.map { Int64(bitPattern: $0.header.number) } }

    /// What the board has counted of a circuit; nil without a board or a cell.
    func totals(of row: CircuitRow) -> CellTotals? {
        guard let reader = self.reader else { return nil }
        self.lookups += 1
        if self.lookups <= Self.maxLookups { return reader.totals(CellKey(incarnation: row.incarnation, id: row.id)) }
        let totals = self.allTotals ?? reader.totals()
        self.allTotals = totals
        return totals[row.incarnation]
    }

    /// How long the calls of a circuit took; nil if no process measures that.
    func durations(of row: CircuitRow) -> DurationBuckets? {
        let durations = self.reader?.durations(CellKey(incarnation: row.incarnation, id: row.id))
        return durations.flatMap { $0.measured == 0 ? nil : $0 }
    }

    /// The error text of the last failure that a closed circuit has counted on the board.
    ///
    /// Nil without a failure-rate or slow-call rule, and if the last failure is older than the last change of state,
    /// which has written a text into the circuit's row.
    func lastError(of row: CircuitRow) -> String? {
        guard row.circuit.state == .closed, CountingRules(row.circuit.rules).shortestWindow != nil,
            let last = self.reader?.lastError(CellKey(incarnation: row.incarnation, id: row.id)),
            self.clock.time(of: last.uptime) >= row.circuit.since
        else { return nil }
        return last.text
    }

    /// The workers that can't use the database, and since when they can't.
    func degraded() -> [Board.Degraded] { self.reader?.degraded() ?? [] }

    /// The calls within the windows of a circuit's rules; nil without a failure-rate or slow-call rule.
    func rates(of row: CircuitRow) -> CallRates? {
        let rules = CountingRules(row.circuit.rules)
        guard let window = rules.failureWindow ?? rules.slowWindow else { return nil }
        var windowCounts = Circuit.WindowCounts()
        for window in rules.windows {
            windowCounts[window.subject] = self.reader?.sums(
                CellKey(incarnation: row.incarnation, window.subject, window.ticks), window.ticks,
                inGeneration: row.circuit.windowGeneration, at: self.uptime)
        }
        func number(_ count: Int64?) -> UInt64 { UInt64(clamping: count ?? 0) }
        // A window without a cell on the board has no calls: the other rule's window can't stand in for it.
        let calls = rules.failureWindow == nil ? windowCounts.slow : windowCounts.failed
        return CallRates(
            calls: number(calls?.calls), failed: number(windowCounts.failed?.bad),
            window: Duration(wholeMicroseconds: window), slow: number(windowCounts.slow?.bad),
            slowCalls: number(windowCounts.slow?.calls),
            slowWindow: rules.slowWindow.map { Duration(wholeMicroseconds: $0) })
    }
}
