import CBreakerStore

/// The cells of one circuit: on the board, for all processes of the host, or in this process's own memory.
///
/// Both kinds keep the same numbers, by the same code.
final class CircuitCells: Sendable {
    /// The cells of one failure-rate or slow-call rule.
    private struct Window {
        let subject: WindowSubject
        let ring: Ring
        let reporters: ReporterCells?

        func tick(at uptime: Uptime, inGeneration windowGeneration: WindowGeneration) -> UInt64 {
            self.ring.ticks.tick(at: uptime, inGeneration: windowGeneration)
        }

        func isBad(_ call: CountedFailure) -> Bool {
            switch self.subject {
            case .failed: call.isFailed
            case .slow: call.isSlow
            }
        }
    }

    let rules: CountingRules
    /// The board that has the cells; nil if the cells are private.
    let board: Board?
    let totalsCell: TotalsCell
    private let durations: SharedWords?
    private let windows: [Window]
    /// Nil without a failure-rate rule, and where the board has no room for a text.
    private let error: ErrorCell?
    private let incarnation: Int64
    /// The private cells, kept as long as this object uses them.
    private let own: [PrivateCells]

    /// Finds the circuit's cells on the board, or allocates them; throws if the board is lost or can't get room.
    init(
        ofID id: Int64, incarnation: Int64, _ rules: CountingRules, on board: Board, making room: Board.RoomMaking
    ) throws(BreakerStoreError) {
        let key = CellKey(incarnation: incarnation, id: id)
        self.rules = rules
        self.board = board
        self.incarnation = incarnation
        self.own = []
        self.totalsCell = TotalsCell(words: try board.cell(.totals, key, making: room))
        self.durations = rules.measuresDurations ? try board.cell(.durations, key, making: room) : nil
        var windows: [Window] = []
        for window in rules.windows {
            let (subject, ticks) = (window.subject, window.ticks)
            let windowKey = CellKey(incarnation: incarnation, subject, ticks)
            let ring = try board.cell(.ring, windowKey, making: room).from(CellKey.words)
            let workers =
                rules.needsReporters
                ? try board.cell(.reporters, windowKey, making: room).from(CellKey.words) : nil
            windows.append(
                Window(
                    subject: subject, ring: Ring(words: ring, ticks: ticks),
                    reporters: workers.map { ReporterCells(words: $0, ticks: ticks) }))
        }
        self.windows = windows
        self.error =
            windows.isEmpty ? nil : (try? board.cell(.lastError, key, making: room)).map { ErrorCell(words: $0) }
    }

    /// Private cells, which continue the counts of `old`, if any.
    ///
    /// If a window differs from that of `old`, all windows begin empty.
    init(privately rules: CountingRules, after old: CircuitCells? = nil) {
        // A process may have a hundred thousand circuits: each gets memory only for the counts that its rules need.
        var own = old?.own ?? []
        func cell(_ words: Int) -> SharedWords {
            let cells = PrivateCells(words: words)
            own.append(cells)
            return cells.words(from: 0)
        }
        self.rules = rules
        self.board = nil
        self.error = nil
        self.incarnation = 0
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

    /// Whether numbers added here are lost: the board was cut or replaced, this process is a fork, or the circuit was
    /// forgotten and its cell belongs to another circuit.
    var isLost: Bool {
        guard let board = self.board else { return false }
        return board.isLost || self.touching { !self.hasItsCells }
    }

    /// Whether the totals still belong to this circuit; checked before each addition.
    ///
    /// The totals stand for all cells: `Board.free` frees them before the others.
    ///
    /// An ABA problem remains: if a thread is stopped just after this check, and before it goes on the circuit is
    /// forgotten and its cell allocated to another circuit, the thread's addition counts for that other circuit.
    private var hasItsCells: Bool {
        self.board == nil || CellKey(of: self.totalsCell.words).incarnation == self.incarnation
    }

    // MARK: - Counting

    /// Adds calls that neither failed nor were slow, and the durations of calls.
    func addToTotals(_ counts: LaneCounts, _ durations: borrowing DurationLane) {
        self.touching {
            guard self.hasItsCells else { return }
            if let cell = self.durations { durations.publish(to: cell) }
            self.totalsCell.add(counts)
        }
    }

    /// Adds a failed or slow call.
    func addToTotals(_ call: CountedFailure) {
        self.touching { if self.hasItsCells { self.totalsCell.add(call) } }
    }

    func addToWindows(good count: UInt64, inGeneration windowGeneration: WindowGeneration, at uptime: Uptime) {
        guard count > 0, !self.windows.isEmpty else { return }
        self.touching {
            guard self.hasItsCells else { return }
            for window in self.windows {
                window.ring.addGood(count, at: window.tick(at: uptime, inGeneration: windowGeneration))
            }
        }
    }

    /// Adds a failed or slow call; returns the rules whose windows rejected it, because the bucket has a newer tick
    /// already.
    ///
    /// A call that is bad for one rule may be good for the other.
    func addToWindows(
        _ call: CountedFailure, by worker: WorkerID, inGeneration windowGeneration: WindowGeneration, at uptime: Uptime,
        of subjects: [WindowSubject]? = nil
    ) -> [WindowSubject] {
        guard !self.windows.isEmpty else { return [] }
        var rejected: [WindowSubject] = []
        self.touching {
            guard self.hasItsCells else { return }
            for window in self.windows where subjects?.contains(window.subject) ?? true {
                let tick = window.tick(at: uptime, inGeneration: windowGeneration)
                if !window.isBad(call) {
                    window.ring.addGood(1, at: tick)
                } else if window.ring.addBad(at: tick) {
                    window.reporters?.record(worker, at: tick)
                } else {
                    rejected.append(window.subject)
                }
            }
        }
        return rejected
    }

    // MARK: - Deciding

    /// The calls in the windows, and whether a bucket has a tick too far in the future.
    struct Sums: Sendable {
        var calls = Circuit.WindowCounts()
        var hasFutureTicks = false
    }

    /// The sums of the windows that end at an uptime; none if the cells are lost.
    func sums(inGeneration windowGeneration: WindowGeneration, at uptime: Uptime) -> Sums {
        var sums = Sums()
        self.touching {
            for window in self.windows {
                let tick = window.tick(at: uptime, inGeneration: windowGeneration)
                let (calls, hasFutureTicks) = window.ring.sums(at: tick)
                sums.calls[window.subject] = calls
                sums.hasFutureTicks = sums.hasFutureTicks || hasFutureTicks
            }
        }
        // If the board was lost during the read, the numbers were zeros.
        return self.isLost ? Sums() : sums
    }

    /// Whether two uptimes are in the same tick of each window.
    func isOneTick(_ one: Uptime, _ other: Uptime) -> Bool {
        self.windows.allSatisfy { $0.tick(at: one, inGeneration: 0) == $0.tick(at: other, inGeneration: 0) }
    }

    /// Clears buckets whose tick is too far ahead to be of this boot, clock and window generation; returns whether
    /// there were any.
    ///
    /// `Ring.clearCorruptFutureTicks` explains the order of the checks.
    ///
    /// - Parameter currentUptime: asks the file whether the window generation lasts; returns the current uptime if it
    ///   does.
    func clearCorruptFutureTicks(
        inGeneration windowGeneration: WindowGeneration, currentUptime: () -> Uptime?
    ) -> Bool {
        self.touching {
            self.windows.reduce(false) { hasCleared, window in
                window.ring.clearCorruptFutureTicks(currentTick: {
                    currentUptime().map { window.tick(at: $0, inGeneration: windowGeneration) }
                }) || hasCleared
            }
        }
    }

    /// For each rule, how many good calls its window has ever counted.
    var goodEver: [WindowSubject: Int64] {
        self.touching { Dictionary(uniqueKeysWithValues: self.windows.map { ($0.subject, $0.ring.goodEver) }) }
    }

    /// The workers whose failed, or slow, calls ended within the window; none if no rule asks for reporters.
    func reporters(
        of subject: WindowSubject, inGeneration windowGeneration: WindowGeneration, at uptime: Uptime
    ) -> Set<WorkerID> {
        guard let window = self.windows.first(where: { $0.subject == subject }), let cells = window.reporters else {
            return []
        }
        return self.touching { cells.workers(at: window.tick(at: uptime, inGeneration: windowGeneration)) }
    }

    /// Writes the policy's text of a failure to the board, where all workers read it.
    func publishError(_ text: String, at uptime: Uptime) {
        self.touching { if self.hasItsCells { self.error?.write(text, at: uptime) } }
    }

    /// The text of the last failure that any worker has counted, and the uptime then.
    var lastError: (text: String, uptime: Uptime)? { self.touching { self.hasItsCells ? self.error?.last : nil } }

    /// The failed calls plus the slow calls, so a slow failure counts twice; the number only rises.
    var bad: UInt64 { self.touching { self.totalsCell.bad } }

    // MARK: - Saving private cells

    var ownCounts: OwnCounts {
        OwnCounts(totals: self.totalsCell.totals, durations: self.durations.map { DurationBuckets($0) })
    }

    /// Whether the file has all of these numbers.
    var isSaved: Bool {
        self.totalsCell.isSaved(self.totalsCell.totals)
            && self.durations.map { DurationBuckets($0).isSaved(in: $0) } ?? true
    }

    /// Marks these numbers as saved, after the commit of the transaction that saved them.
    func setSaved(_ saved: OwnCounts) {
        self.totalsCell.setSaved(saved.totals)
        if let cell = self.durations { saved.durations?.setSaved(in: cell) }
    }

    // MARK: - Touching the board

    /// Runs `body`, which reads or writes the cells, with SIGBUS unblocked.
    ///
    /// A fault of the mapped file kills a thread that blocks the signal; otherwise the handler replaces the memory by
    /// zeros.
    @inline(__always)
    private func touching<Result>(_ body: () -> Result) -> Result {
        guard self.board != nil else { return body() }
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return body()
    }
}
