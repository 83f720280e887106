import Synchronization

/// The board that the counts of this process's circuits go to, and what of them the file was told.
final class StoreCounts: Sendable {
    private let file: StoreFile
    private let clock: StoreClock
    private let circuits: UsedCircuits
    private let presentBoard = ForkSafe<Board?>(nil)
    /// Before this uptime no other try is made to open a board.
    private let nextTry = Atomic<Int64>(.min)
    /// Before this uptime no room is made on the board: there was none the last time.
    private let nextGrowth = Atomic<Int64>(.min)
    /// Before this uptime nobody waits for another process that changes the board: the last one waited in vain.
    private let nextWait = Atomic<Int64>(.min)
    /// Held while the board is opened: a thread that comes meanwhile waits, as it must not count elsewhere.
    private let opening = Mutex((), rank: .boardOpening)
    private let lastSaved = Atomic<Int64>(.min)

    init(_ file: StoreFile, _ clock: StoreClock, _ circuits: UsedCircuits) {
        self.file = file
        self.clock = clock
        self.circuits = circuits
    }

    // MARK: - Telling the file

    /// What the file is told of the calls of this process's circuits, and of all that are on the board.
    struct News: Sendable {
        /// What boards, and processes without one, have counted.
        var tallies: [Tally] = []
        /// The last errors of failures of which no row is kept.
        var errors: [(id: Int64, birth: Int64, error: CircuitCounts.LastError)] = []
        /// Those of this process's circuits of which the news are, by their births.
        fileprivate var circuits: [Int64: SharedCircuit] = [:]

        var isEmpty: Bool { self.tallies.isEmpty && self.errors.isEmpty }
    }

    /// Microseconds between two tellings.
    private static let interval: Int64 = 5_000_000
    /// The numbers of at most so many circuits are told in one transaction: other processes wait for it.
    static let mostAtOnce = 1_000
    /// The place among the circuits, and that on the board, at which the next transaction begins.
    private let next = Atomic<Int>(0)
    private let nextOnBoard = Atomic<Int>(0)

    /// Whether news wait for their commit.
    ///
    /// The numbers of this process alone are added to those of the file: a second telling would add them twice.
    private let isSaving = Atomic<Bool>(false)

    /// Begins a telling of the file, if it is time for one and the last one has ended; false if not.
    func beginSaving(at uptime: Int64) -> Bool {
        guard !self.isSaving.load(ordering: .acquiring) else { return false }
        let last = self.lastSaved.load(ordering: .relaxed)
        guard last == .min || uptime.subtractingSaturating(last) >= Self.interval else { return false }
        self.lastSaved.store(uptime, ordering: .relaxed)
        // The first question of all begins the first interval.
        return last != .min
    }

    /// Takes the numbers that the file is to be told now.
    ///
    /// - Parameters:
    ///   - worker: under whose id calls are told that could not go to a board.
    ///   - most: the numbers of so many circuits on the board; those of the others come with the next transaction.
    ///   - isLast: whether this process can't tell any later: it tells all that it alone has.
    ///   - read: has counts learn what the file says of their circuit, which this process has not read yet; false if
    ///     the file can't be read just now.
    func takeUnsaved(
        by worker: Int64, atMost most: Int, isLast: Bool = false, reading read: (SharedCircuit) -> Bool
    ) -> News {
        var news = self.takeOwn(by: worker, atMost: isLast ? .max : most, reading: read)
        let uptime = self.clock.uptime
        guard let board = self.board, isLast || board.takeTurn(at: uptime, pause: Self.interval) else { return news }
        let found = board.unsaved(from: self.nextOnBoard.load(ordering: .relaxed), atMost: most)
        news.tallies += found.tallies
        self.nextOnBoard.store(found.next ?? 0, ordering: .relaxed)
        if found.next != nil {
            board.giveTurnBack()
            self.goOnSoon(at: uptime)
        }
        return news
    }

    /// What this process alone has: the calls that it has counted without a board, and errors.
    private func takeOwn(by worker: Int64, atMost most: Int, reading read: (SharedCircuit) -> Bool) -> News {
        let circuits = self.circuits.all
        var news = News()
        var looked = 0
        var canRead = true
        let start = self.next.load(ordering: .relaxed)
        for place in circuits.indices {
            if news.circuits.count + looked >= most {
                self.next.store((start + place) % circuits.count, ordering: .relaxed)
                self.goOnSoon(at: self.clock.uptime)
                break
            }
            let circuit = circuits[(start + place) % circuits.count]
            if canRead, circuit.counts.waitsForBirth {
                // Each read may wait: after one in vain no other is tried.
                canRead = read(circuit)
                looked += 1
            }
            if let tally = circuit.counts.takeOwn(by: worker) {
                news.tallies.append(tally)
                news.circuits[tally.birth] = circuit
            }
            if let error = circuit.counts.takeError() {
                news.errors.append(error)
                news.circuits[error.birth] = circuit
            }
        }
        return news
    }

    /// There are more numbers than one transaction takes.
    private func goOnSoon(at uptime: Int64) {
        self.lastSaved.store(uptime.subtractingSaturating(Self.interval), ordering: .relaxed)
    }

    /// The news wait for their commit from now on.
    func noteSaving() { self.isSaving.store(true, ordering: .relaxed) }

    /// The file has been told these numbers: the transaction is committed.
    func noteSaved(_ news: News) {
        defer { self.isSaving.store(false, ordering: .releasing) }
        for tally in news.tallies where tally.own != nil { news.circuits[tally.birth]?.counts.noteSaved(tally) }
        self.board?.noteSaved(news.tallies)
    }

    /// The file could not be told: numbers are taken again by themselves, as they differ from what was told last.
    func noteNotSaved(_ news: News) {
        defer { self.isSaving.store(false, ordering: .releasing) }
        for (_, birth, error) in news.errors { news.circuits[birth]?.counts.putBack(error, of: birth) }
    }

    // MARK: - The board

    /// Microseconds between two tries to open a board, or to make room on it.
    private static let pause: Int64 = 1_000_000

    /// The board, if it is open and not lost.
    var board: Board? { self.presentBoard.value.flatMap { $0.isLost ? nil : $0 } }

    /// Whether this process counts calls for itself, because it has tried to open a board and has none, or has found
    /// no room on the board for some circuit.
    var isPrivate: Bool {
        self.board == nil && self.nextTry.load(ordering: .relaxed) != .min
            || self.circuits.all.contains { $0.counts.isPrivate }
    }

    /// A database was opened, another one or the same one again: its board is opened when it is needed.
    func fileOpened() {
        self.presentBoard.value = nil
        self.nextTry.store(.min, ordering: .relaxed)
        self.nextGrowth.store(.min, ordering: .relaxed)
        self.nextWait.store(.min, ordering: .relaxed)
    }

    /// The board; opens it if it is time to try.
    ///
    /// Another process may be opening the store just now. This one waits for it until the deadline: a failure that was
    /// counted privately instead would be lost if this process is killed.
    ///
    /// - Parameter owner: the lock file, and the owner that the board must name; nil while the database can't be read.
    func board(
        until deadline: Deadline,
        openedBy owner: () throws(BreakerStoreError) -> (lock: LockFile, owner: BoardHeader.Owner)?
    ) -> Board? {
        if let board = self.board { return board }
        let uptime = self.clock.uptime
        guard self.nextTry.load(ordering: .relaxed) <= uptime else { return nil }
        return self.opening.withLock { _ in self.openBoard(at: uptime, until: deadline, openedBy: owner) }
    }

    private func openBoard(
        at uptime: Int64,
        until deadline: Deadline,
        openedBy owner: () throws(BreakerStoreError) -> (lock: LockFile, owner: BoardHeader.Owner)?
    ) -> Board? {
        // Another thread may have opened it, or tried in vain.
        if let board = self.board { return board }
        guard self.nextTry.load(ordering: .relaxed) <= uptime else { return nil }
        var board: Board?
        // Not set before: a thread that comes while the board is opened waits for the board.
        // The pause begins after the try, which may have waited longer than the pause is.
        defer {
            let end = self.clock.uptime
            self.nextTry.store(board == nil ? end.addingSaturating(Self.pause) : end, ordering: .relaxed)
        }
        guard let (lock, owner) = try? owner() else { return nil }
        board = try? lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
            try Board.openOrCreate(of: self.file, owner)
        }
        if board != nil { self.nextGrowth.store(.min, ordering: .relaxed) }
        self.presentBoard.value = board
        return board
    }

    /// Whether a board without room may be grown: on a full disk each end of a call would try.
    var mayGrow: Bool { self.nextGrowth.load(ordering: .relaxed) <= self.clock.uptime }

    func noteNoRoom() { self.nextGrowth.store(self.clock.uptime.addingSaturating(Self.pause), ordering: .relaxed) }

    /// Runs `body` while no other process creates or changes a board.
    ///
    /// If another one does so until the deadline, this process does not wait again for a while: each end of a call
    /// would wait.
    func alone(
        under lock: LockFile?, until deadline: Deadline, _ body: () throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        let uptime = self.clock.uptime
        guard let lock, self.nextWait.load(ordering: .relaxed) <= uptime else {
            throw BreakerStoreError(
                code: .busy, message: "another process changes '\(self.file.board)'", advice: "try again",
                path: self.file.path)
        }
        var hasBegun = false
        defer { if !hasBegun { self.nextWait.store(uptime.addingSaturating(Self.pause), ordering: .relaxed) } }
        try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
            hasBegun = true
            try body()
        }
    }

    /// Lets go of the board: handles may outlive their store, and what they count then reaches nobody.
    func closeBoard() {
        self.presentBoard.value = nil
        for circuit in self.circuits.all { circuit.counts.leaveBoard() }
    }

    /// Checks that the board is still the one that other processes add to; lets go of it otherwise.
    func lookAround() {
        if let board = self.board, !board.checkPlace() { self.presentBoard.value = nil }
    }
}
