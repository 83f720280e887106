import Synchronization

/// Opens the board for the counts of this process's circuits, and decides which counts are saved when.
final class StoreCounts: Sendable {
    private let file: StoreFile
    private let clock: StoreClock
    private let circuits: UsedCircuits
    private let currentBoard = ForkSafe<Board?>(nil)
    /// Before this uptime no thread tries to open a board; or one of the constants below.
    private let nextTry = Atomic<Int64>(StoreCounts.notTried)
    /// No try since the file was opened; a try has just failed, and the pause after it is not set yet.
    private static let (notTried, justFailed) = (Int64.min, Int64.max)
    /// Before this uptime no thread tries to make room on the board, because the last try failed.
    private let nextGrowth = Atomic<Int64>(.min)
    /// Before this uptime no thread waits for another process that changes the board, because the last wait timed out.
    private let nextWait = Atomic<Int64>(.min)
    /// Held while the board is opened: other threads wait, because they must not count elsewhere.
    private let opening = Mutex((), rank: .boardOpening)
    private let lastBatchBegan: Atomic<Int64>
    /// When a batch last left nothing unsaved; `Int64.min` if a batch with a commit of its own left something.
    private let lastComplete: Atomic<Int64>

    init(_ file: StoreFile, _ clock: StoreClock, _ circuits: UsedCircuits) {
        self.file = file
        self.clock = clock
        self.circuits = circuits
        // So that the first commit with a transition or a registration saves counts along.
        self.lastBatchBegan = Atomic(clock.uptime.subtracting(Self.shortPause).microseconds)
        self.lastComplete = Atomic(clock.uptime.microseconds)
    }

    // MARK: - Saving

    /// A batch of counts to save: of this process's circuits, and of all circuits on the board.
    struct Unsaved: Sendable {
        /// The counters of the board, and of this process's private cells.
        var counters: [CircuitCounters] = []
        /// This process's circuits whose private counts are in the batch, by incarnation.
        fileprivate var circuits: [Int64: SharedCircuit] = [:]

        var isEmpty: Bool { self.counters.isEmpty }
    }

    /// Microseconds until counts get a commit of their own, if other commits have not saved all of them.
    private static let longPause: Int64 = 600_000_000
    /// The same in a process that counts privately, whose counts are lost if it is killed.
    private static let privatePause: Int64 = 5_000_000
    /// Microseconds from one batch to the next along with other commits: a storm of trips must not save at each trip.
    private static let shortPause: Int64 = 1_000_000
    /// The most circuits that one transaction saves, of this process and again of the board; other commits wait.
    static let maxAtOnce = 1_000
    /// The same along with another commit, whose caller waits.
    static let maxAlong = 100
    /// How many circuits, and how many cells of the board, such a commit examines at most.
    static let maxExamined = 1_000

    /// Where the next batch continues: an index among the circuits, and one on the board.
    private final class Cursor: Sendable {
        let circuit = Atomic<Int>(0)
        let cell = Atomic<Int>(0)
    }

    /// For batches along with other commits.
    private let cursorAlong = Cursor()
    /// For batches with a commit of their own, which continue only each other: from `cursorAlong` they'd skip cells.
    private let cursorAlone = Cursor()

    /// Whether a batch (`Unsaved`) waits for its commit.
    ///
    /// A second batch would add private counts twice: they are added to the counts in the file.
    private let isSaving = Atomic<Bool>(false)

    /// Why counts are saved.
    enum Occasion {
        /// A commit with a transition or a registration saves counts along; other commits don't.
        case otherCommit
        /// The pause since the last complete save is over: counts get a commit of their own.
        case pauseIsOver
        /// The store is closing: all private counts are saved, because this process can't save later.
        case end
    }

    /// Whether a commit with a transition or a registration may save counts along now.
    func maySaveAlong(at now: Uptime) -> Bool { self.isOver(Self.shortPause, since: self.lastBatchBegan, at: now) }

    /// Whether counts are due to get a commit of their own.
    func isSaveDue(at uptime: Uptime) -> Bool {
        self.isOver(self.isPrivate ? Self.privatePause : Self.longPause, since: self.lastComplete, at: uptime)
    }

    /// Whether the pause is over, and no batch waits for its commit.
    private func isOver(_ pause: Int64, since last: borrowing Atomic<Int64>, at uptime: Uptime) -> Bool {
        !self.isSaving.load(ordering: .acquiring)
            && uptime.microseconds.subtractingSaturating(last.load(ordering: .relaxed)) >= pause
    }

    /// Begins a batch of the counts to save now; nil if there are none, or if another thread's batch is under way.
    ///
    /// No other batch begins until `setSaved` or `cancelSave` is called. When the store closes, no batch waits for a
    /// commit any longer.
    ///
    /// - Parameters:
    ///   - worker: the id under which private counts are saved.
    ///   - most: of circuits of this process, and again of counters of the board; later batches have the rest.
    ///   - read: reads a circuit that this process has not read yet; false if the file can't be read now.
    func beginSave(
        on occasion: Occasion, by worker: WorkerID, atMost most: Int, reading read: (SharedCircuit) -> Bool
    ) -> Unsaved? {
        guard occasion == .end || !self.isSaving.exchange(true, ordering: .acquiring) else { return nil }
        let uptime = self.clock.uptime
        self.lastBatchBegan.store(uptime.microseconds, ordering: .relaxed)
        var unsaved = Unsaved()
        let cursor = occasion == .otherCommit ? self.cursorAlong : self.cursorAlone
        var isComplete = self.addOwn(to: &unsaved, from: cursor, on: occasion, by: worker, atMost: most, reading: read)
        if let board = self.board, self.acquireTurn(on: board, occasion, at: uptime) {
            let start = occasion == .end ? 0 : cursor.cell.load(ordering: .relaxed)
            let found = board.unsaved(
                from: start, atMost: most, visits: occasion == .otherCommit ? Self.maxExamined : .max)
            unsaved.counters += found.counters
            cursor.cell.store(found.next ?? 0, ordering: .relaxed)
            // A walk that began in the middle has not read the cells before that.
            if found.next != nil || occasion == .otherCommit && start != 0 {
                board.releaseTurn()
                isComplete = false
            }
        }
        switch occasion {
        // If anything is left, the next commit of its own is due at once.
        case .pauseIsOver: self.lastComplete.store(isComplete ? uptime.microseconds : .min, ordering: .relaxed)
        case .otherCommit: if isComplete { self.lastComplete.store(uptime.microseconds, ordering: .relaxed) }
        case .end: break
        }
        guard !unsaved.isEmpty else {
            self.cancelSave()
            return nil
        }
        return unsaved
    }

    /// Whether this worker saves the counts of the board now; if so, no other worker does until the pause is over.
    private func acquireTurn(on board: Board, _ occasion: Occasion, at uptime: Uptime) -> Bool {
        switch occasion {
        case .otherCommit: board.acquireTurn(at: uptime, pause: Self.shortPause)
        case .pauseIsOver: board.acquireTurn(at: uptime, pause: Self.longPause)
        case .end: true
        }
    }

    /// Adds the private counts of this process; returns false if another batch should soon follow for those left.
    private func addOwn(
        to unsaved: inout Unsaved, from cursor: Cursor, on occasion: Occasion, by worker: WorkerID, atMost most: Int,
        reading read: (SharedCircuit) -> Bool
    ) -> Bool {
        let circuits = self.circuits.all
        let start = cursor.circuit.load(ordering: .relaxed)
        var reads = 0
        var canRead = true
        for offset in circuits.indices {
            let isFull =
                switch occasion {
                case .otherCommit: unsaved.circuits.count >= most || offset >= Self.maxExamined
                case .pauseIsOver: unsaved.circuits.count + reads >= most
                case .end: false
                }
            if isFull {
                cursor.circuit.store((start + offset) % circuits.count, ordering: .relaxed)
                return false
            }
            let circuit = circuits[(start + offset) % circuits.count]
            if canRead, circuit.counts.waitsForIncarnation {
                // Each read may block: after a failed read no other is tried, and no batch soon follows. The next one,
                // after the pause, tries.
                canRead = read(circuit)
                reads += 1
            }
            if let counters = circuit.counts.unsavedOwn(by: worker) {
                unsaved.counters.append(counters)
                unsaved.circuits[counters.incarnation] = circuit
            }
        }
        // Along with another commit nothing is read, so what waits for a read is left for a commit of its own.
        return canRead || occasion != .otherCommit
    }

    /// Marks a batch as saved, after the commit of the transaction that saved it.
    func setSaved(_ unsaved: Unsaved) {
        defer { self.isSaving.store(false, ordering: .releasing) }
        for counters in unsaved.counters where counters.own != nil {
            unsaved.circuits[counters.incarnation]?.counts.setSaved(counters)
        }
        self.board?.setSaved(unsaved.counters)
    }

    /// Ends a batch that could not be saved: its counts are not marked as saved, so the next batch has them.
    func cancelSave() { self.isSaving.store(false, ordering: .releasing) }

    // MARK: - The board

    /// Microseconds between two tries to open a board, or to make room on it.
    private static let pause: Int64 = 1_000_000

    /// The board, if it is open and not lost.
    var board: Board? { self.currentBoard.value.flatMap { $0.isLost ? nil : $0 } }

    /// Whether this process counts calls privately: it could not open a board, or has found no room on it for some
    /// circuit.
    var isPrivate: Bool {
        self.board == nil && self.nextTry.load(ordering: .relaxed) != Self.notTried
            || self.circuits.all.contains { $0.counts.isPrivate }
    }

    /// Forgets the board, after a database was opened, the same or another: the new board is opened when it is needed.
    func resetBoard() {
        self.currentBoard.value = nil
        self.nextTry.store(Self.notTried, ordering: .relaxed)
        self.nextGrowth.store(.min, ordering: .relaxed)
        self.nextWait.store(.min, ordering: .relaxed)
    }

    /// Returns the board, and opens it if a try is due; nil if it is not open.
    ///
    /// If another process is opening the store, this process waits for it until the deadline: a failure that was
    /// counted privately would be lost if this process were killed.
    ///
    /// - Parameters:
    ///   - lock: nil while the database is not open.
    ///   - incarnation: the incarnation of the open database; nil while it can't be read.
    func openBoard(
        until deadline: Deadline, under lock: () -> LockFile?, of incarnation: () throws(BreakerStoreError) -> Int64?
    ) -> Board? {
        if let board = self.board { return board }
        // The clock, which may be the user's code, is read while no lock is held.
        let uptime = self.clock.uptime
        guard self.nextTry.load(ordering: .relaxed) <= uptime.microseconds else { return nil }
        let bootID = self.clock.host.bootID
        var hasTried = false
        let board = self.opening.withLock { _ -> Board? in
            // Another thread may have opened the board, or have failed to.
            if let board = self.board { return board }
            guard self.nextTry.load(ordering: .relaxed) <= uptime.microseconds, let lock = lock() else { return nil }
            hasTried = true
            self.currentBoard.value = try? lock.withSetupLock(until: deadline) { () throws(BreakerStoreError) in
                // Read under the setup lock, so that no other process opens another database before its board is open.
                guard let incarnation = try incarnation() else { return nil }
                return try Board.openOrCreate(
                    of: self.file, BoardHeader.Owner(bootID: bootID, incarnation: incarnation))
            }
            let board = self.board
            // After a failure, threads that have waited for this try make none of their own.
            self.nextTry.store(board == nil ? Self.justFailed : uptime.microseconds, ordering: .relaxed)
            return board
        }
        guard hasTried else { return board }
        if board == nil {
            // The pause begins after the try, unless another file was opened since.
            _ = self.nextTry.compareExchange(expected: Self.justFailed, desired: self.endOfPause, ordering: .relaxed)
        } else {
            self.nextGrowth.store(.min, ordering: .relaxed)
        }
        return board
    }

    /// Whether a full board may be grown now; without the pause, each call on a full disk would try.
    var mayGrow: Bool { self.nextGrowth.load(ordering: .relaxed) <= self.clock.uptime.microseconds }

    func postponeGrowth() { self.nextGrowth.store(self.endOfPause, ordering: .relaxed) }
    private var endOfPause: Int64 { self.clock.uptime.adding(Self.pause).microseconds }

    /// Runs `body` under the setup lock, so that no other process creates or changes a board.
    ///
    /// If another process holds the lock until the deadline, this process does not wait again for a while: otherwise
    /// each call would wait.
    func withSetupLock(
        of lock: LockFile?, until deadline: Deadline, _ body: () throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        guard let lock, self.nextWait.load(ordering: .relaxed) <= uptime.microseconds else {
            throw BreakerStoreError(
                code: .busy, message: "another process is changing '\(self.file.board)'", advice: "try again",
                path: self.file.path)
        }
        var hasBegun = false
        defer { if !hasBegun { self.nextWait.store(uptime.adding(Self.pause).microseconds, ordering: .relaxed) } }
        try lock.withSetupLock(until: deadline) { () throws(BreakerStoreError) in
            hasBegun = true
            try body()
        }
    }

    /// Releases the board: handles may outlive their store, and calls that they count later are lost.
    func closeBoard() {
        self.currentBoard.value = nil
        for circuit in self.circuits.all { circuit.counts.leaveBoard() }
    }

    /// Releases the board if it has been replaced, so that other processes no longer count there.
    func releaseBoardIfReplaced() {
        if let board = self.board, !board.loseIfReplaced() { self.currentBoard.value = nil }
    }
}
