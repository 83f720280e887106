import CBreakerStore

/// The counters of one circuit: on the board for all processes of the host, or in this process's own memory.
///
/// Both keep the same numbers, by the same code.
final class CircuitCells: Sendable {
    /// What is counted for one rule about shares.
    private struct Window {
        let subject: WindowSubject
        let ring: Ring
        let reporters: ReporterCells?

        func tick(at uptime: Int64, inStretch stretch: Int64) -> UInt64 {
            self.ring.ticks.tick(at: uptime, inStretch: stretch)
        }

        func isBad(_ end: BadEnd) -> Bool {
            switch self.subject {
            case .failed: end.isFailed
            case .slow: end.isSlow
            }
        }
    }

    let rules: CountingRules
    /// The board that has the cells; nil if they are private.
    let board: Board?
    let totalsCell: TotalsCell
    private let durations: SharedWords?
    private let windows: [Window]
    private let birth: Int64
    /// The private cells, kept for as long as this object uses them.
    private let own: [PrivateCells]

    /// Finds the circuit's cells on the board, or takes new ones; throws if the board has no room and can't grow.
    init(
        ofID id: Int64, birth: Int64, _ rules: CountingRules, on board: Board, making room: Board.Room
    ) throws(BreakerStoreError) {
        let key = CellKey(birth: birth, id: id)
        self.rules = rules
        self.board = board
        self.birth = birth
        self.own = []
        self.totalsCell = TotalsCell(words: try board.cell(.totals, key, making: room))
        self.durations = rules.measuresDurations ? try board.cell(.durations, key, making: room) : nil
        var windows: [Window] = []
        for window in rules.windows {
            let (subject, ticks) = (window.subject, window.ticks)
            let key = CellKey(birth: birth, subject, ticks)
            let ring = try board.cell(.ring, key, making: room).from(CellKey.words)
            let workers =
                rules.needsReporters
                ? try board.cell(.reporters, key, making: room).from(CellKey.words) : nil
            windows.append(
                Window(
                    subject: subject, ring: Ring(words: ring, ticks: ticks),
                    reporters: workers.map { ReporterCells(words: $0, ticks: ticks) }))
        }
        self.windows = windows
    }

    /// Counts in this process's memory, on from what another private counter has: a changed window begins anew.
    init(privately rules: CountingRules, after old: CircuitCells? = nil) {
        // There may be very many circuits: none takes memory for what its rules don't ask for.
        var own = old?.own ?? []
        func cell(_ words: Int) -> SharedWords {
            let cells = PrivateCells(words: words)
            own.append(cells)
            return cells.words(from: 0)
        }
        self.rules = rules
        self.board = nil
        self.birth = 0
        self.totalsCell = old?.totalsCell ?? TotalsCell(words: cell(TotalsCell.words))
        self.durations = old?.durations ?? (rules.measuresDurations ? cell(DurationBuckets.words) : nil)
        self.windows =
            if let old, old.rules.hasWindows(of: rules) {
                old.windows
            } else {
                rules.windows.map {
                    Window(subject: $0.subject, ring: Ring(words: cell(Ring.words), ticks: $0.ticks), reporters: nil)
                }
            }
        self.own = own
    }

    /// Whether the numbers that are added here reach nobody: the board was cut or replaced, this process is a fork, or
    /// somebody has forgotten the circuit, and its cell is another one's.
    var isLost: Bool {
        guard let board = self.board else { return false }
        return board.isLost || self.touching { !self.hasItsCells }
    }

    /// Asked before anything is added.
    ///
    /// A thread that is stopped just after this, while its circuit is forgotten and the cell is given away, adds what
    /// it has in hand to another circuit's.
    private var hasItsCells: Bool { self.board == nil || CellKey(of: self.totalsCell.words).birth == self.birth }

    // MARK: - Counting

    /// Adds calls that neither failed nor were slow, and how long calls took.
    func addToTotals(_ counts: LaneCounts, _ durations: borrowing DurationCell) {
        self.touching {
            guard self.hasItsCells else { return }
            if let cell = self.durations { durations.publish(to: cell) }
            self.totalsCell.add(counts)
        }
    }

    /// Adds a failing or slow end.
    func addToTotals(_ end: BadEnd) {
        self.touching { if self.hasItsCells { self.totalsCell.add(end) } }
    }

    /// Adds calls that went well.
    func addToWindows(good count: UInt64, inStretch stretch: Int64, at uptime: Int64) {
        guard count > 0, !self.windows.isEmpty else { return }
        self.touching {
            guard self.hasItsCells else { return }
            for window in self.windows { window.ring.addGood(count, at: window.tick(at: uptime, inStretch: stretch)) }
        }
    }

    /// Adds a failing or slow end; returns the rules whose windows did not take it, as a newer word is in the way.
    ///
    /// An end that is bad to one rule may be good to the other.
    func addToWindows(
        _ end: BadEnd, by worker: Int64, inStretch stretch: Int64, at uptime: Int64,
        of subjects: [WindowSubject]? = nil
    ) -> [WindowSubject] {
        guard !self.windows.isEmpty else { return [] }
        var missing: [WindowSubject] = []
        self.touching {
            guard self.hasItsCells else { return }
            for window in self.windows where subjects?.contains(window.subject) ?? true {
                let tick = window.tick(at: uptime, inStretch: stretch)
                if !window.isBad(end) {
                    window.ring.addGood(1, at: tick)
                } else if window.ring.addBad(at: tick) {
                    window.reporters?.note(worker, at: tick)
                } else {
                    missing.append(window.subject)
                }
            }
        }
        return missing
    }

    // MARK: - Deciding

    /// The calls in the windows, and whether there are words of the future.
    struct Sums: Sendable {
        var calls = Circuit.WindowCounts()
        var hasFuture = false
    }

    /// The sums of the windows that end at an uptime; none where nothing may be decided by them.
    func sums(inStretch stretch: Int64, at uptime: Int64) -> Sums {
        var sums = Sums()
        self.touching {
            for window in self.windows {
                let (calls, hasFuture) = window.ring.sums(at: window.tick(at: uptime, inStretch: stretch))
                sums.calls[window.subject] = calls
                sums.hasFuture = sums.hasFuture || hasFuture
            }
        }
        // The board may have been lost while it was read: then the numbers were zeros.
        return self.isLost ? Sums() : sums
    }

    /// Whether two uptimes are in one tick of each window.
    func isOneTick(_ one: Int64, _ other: Int64) -> Bool {
        self.windows.allSatisfy { $0.tick(at: one, inStretch: 0) == $0.tick(at: other, inStretch: 0) }
    }

    /// Clears words that nobody can have written; returns whether there were any.
    ///
    /// `Ring.dropTheFuture` says why.
    ///
    /// - Parameter now: asks the file whether the stretch lasts, and tells the uptime of now if it does.
    func dropTheFuture(inStretch stretch: Int64, _ now: () -> Int64?) -> Bool {
        self.touching {
            self.windows.reduce(false) { isAny, window in
                window.ring.dropTheFuture { now().map { window.tick(at: $0, inStretch: stretch) } } || isAny
            }
        }
    }

    /// The calls that each rule calls good and that were ever counted.
    var goodEver: [WindowSubject: Int64] {
        self.touching { Dictionary(uniqueKeysWithValues: self.windows.map { ($0.subject, $0.ring.goodEver) }) }
    }

    /// The workers whose failing, or slow, calls ended within the window; none where nobody notes them.
    func reporters(of subject: WindowSubject, inStretch stretch: Int64, at uptime: Int64) -> Set<Int64> {
        guard let window = self.windows.first(where: { $0.subject == subject }), let cells = window.reporters else {
            return []
        }
        return self.touching { cells.workers(at: window.tick(at: uptime, inStretch: stretch)) }
    }

    /// How many ends were failing or slow ones; a number that only rises.
    var bad: UInt64 { self.touching { self.totalsCell.bad } }

    // MARK: - Telling the file, of private counters

    var ownCounts: OwnCounts {
        OwnCounts(totals: self.totalsCell.totals, durations: self.durations.map { DurationBuckets($0) })
    }

    /// Whether the file has been told all of these numbers.
    var isSaved: Bool {
        self.totalsCell.isSaved(self.totalsCell.totals)
            && self.durations.map { DurationBuckets($0).isSaved(in: $0) } ?? true
    }

    /// The file has been told these numbers: the transaction is committed.
    func noteSaved(_ told: OwnCounts) {
        self.totalsCell.noteSaved(told.totals)
        if let cell = self.durations { told.durations?.noteSaved(in: cell) }
    }

    // MARK: - Touching the board

    /// Runs `body`, which reads or writes the cells, on a thread that a fault of the mapped file does not kill.
    @inline(__always)
    private func touching<Result>(_ body: () -> Result) -> Result {
        guard self.board != nil else { return body() }
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return body()
    }
}
