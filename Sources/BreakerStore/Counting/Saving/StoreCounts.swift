import Synchronization

/// The board for the counts of this process's circuits, and the saving of all counts.
final class StoreCounts: Sendable {
    private let file: StoreFile
    private let clock: StoreClock
    private let circuits: UsedCircuits
    private let presentBoard = ForkSafe<Board?>(nil)
    /// Before this uptime no thread tries again to open a board.
    private let nextTry = Atomic<Int64>(.min)
    /// Before this uptime no thread makes room on the board: the last try found none.
    private let nextGrowth = Atomic<Int64>(.min)
    /// Before this uptime no thread waits for another process that changes the board: the last wait was in vain.
    private let nextWait = Atomic<Int64>(.min)
    /// Held while the board is opened: a thread that comes meanwhile waits, because it must not count elsewhere.
    private let opening = Mutex((), rank: .boardOpening)
    private let lastSaved: Atomic<Int64>

    init(_ file: StoreFile, _ clock: StoreClock, _ circuits: UsedCircuits) {
        self.file = file
        self.clock = clock
        self.circuits = circuits
        // Due along with the first commit.
        self.lastSaved = Atomic(clock.uptime.subtractingSaturating(Self.shortPause))
    }

    // MARK: - Saving

    /// The numbers to save: of this process's circuits, and of all circuits on the board.
    struct Unsaved: Sendable {
        /// The tallies of the board, and of this process's private cells.
        var tallies: [Tally] = []
        /// This process's circuits with private cells that are saved, by their incarnations.
        fileprivate var circuits: [Int64: SharedCircuit] = [:]

        var isEmpty: Bool { self.tallies.isEmpty }
    }

    /// Microseconds from one saving to the next, if no commit that happens anyway takes the numbers along.
    private static let longPause: Int64 = 600_000_000
    /// The same in a process that counts calls for itself alone, whose numbers go with it if it is killed.
    private static let privatePause: Int64 = 5_000_000
    /// Microseconds from one saving to the next along with other commits: a storm of trips must not save at each trip.
    private static let shortPause: Int64 = 1_000_000
    /// How many circuits one transaction saves at most, of this process and again of the board: others wait meanwhile.
    static let mostAtOnce = 1_000
    /// The same for a commit that takes counts along: its caller waits.
    static let mostAlong = 100
    /// The place among the circuits, and the place on the board, at which the next transaction begins.
    private let next = Atomic<Int>(0)
    private let nextOnBoard = Atomic<Int>(0)

    /// Whether a batch (`Unsaved`) waits for its commit.
    ///
    /// A second batch would count private counts twice: they are added to the numbers of the file.
    private let isSaving = Atomic<Bool>(false)

    /// Why numbers are saved.
    enum Occasion {
        /// A commit that happens anyway takes them along.
        case otherCommit
        /// They have waited for long: they get a commit of their own.
        case pauseIsOver
        /// This process can't save later: it takes all its private counts.
        case end
    }

    /// Whether a commit that happens anyway may take numbers along now.
    func maySaveAlong(at uptime: Int64) -> Bool { self.isOver(Self.shortPause, at: uptime) }

    /// Whether the numbers have waited for so long that they get a commit of their own.
    func isSaveDue(at uptime: Int64) -> Bool {
        self.isOver(self.isPrivate ? Self.privatePause : Self.longPause, at: uptime)
    }

    /// Whether the pause after the last save is over, and no batch waits for its commit.
    private func isOver(_ pause: Int64, at uptime: Int64) -> Bool {
        !self.isSaving.load(ordering: .acquiring)
            && uptime.subtractingSaturating(self.lastSaved.load(ordering: .relaxed)) >= pause
    }

    /// Takes the numbers to save now.
    ///
    /// If there are any, no other batch is due until this one is `noteSaved` or `noteNotSaved`.
    ///
    /// - Parameters:
    ///   - worker: the id under which private counts are saved.
    ///   - most: of circuits of this process, and of tallies of the board; later transactions save the rest.
    ///   - read: reads a circuit that this process has not read yet; false if the file can't be read now.
    func takeUnsaved(
        on occasion: Occasion, by worker: Int64, atMost most: Int, reading read: (SharedCircuit) -> Bool
    ) -> Unsaved {
        let uptime = self.clock.uptime
        self.lastSaved.store(uptime, ordering: .relaxed)
        var unsaved = Unsaved()
        var isMore = !self.takeOwn(&unsaved, by: worker, atMost: occasion == .end ? .max : most, reading: read)
        if let board = self.board, self.isTurn(on: board, occasion, at: uptime) {
            let start = occasion == .end ? 0 : self.nextOnBoard.load(ordering: .relaxed)
            let found = board.unsaved(from: start, atMost: most)
            unsaved.tallies += found.tallies
            self.nextOnBoard.store(found.next ?? 0, ordering: .relaxed)
            if found.next != nil {
                board.giveTurnBack()
                isMore = true
            }
        }
        // The rest is due at once where it would have to wait for long.
        if isMore, occasion == .pauseIsOver {
            self.lastSaved.store(uptime.subtractingSaturating(Self.longPause), ordering: .relaxed)
        }
        if !unsaved.isEmpty { self.isSaving.store(true, ordering: .relaxed) }
        return unsaved
    }

    /// Whether this worker saves the counts of the board now; if so, no other worker does for a while.
    private func isTurn(on board: Board, _ occasion: Occasion, at uptime: Int64) -> Bool {
        switch occasion {
        case .otherCommit: board.takeTurn(at: uptime, pause: Self.shortPause)
        case .pauseIsOver: board.takeTurn(at: uptime, pause: Self.longPause)
        case .end: true
        }
    }

    /// Takes the private counts of this process; returns whether these are all.
    private func takeOwn(
        _ unsaved: inout Unsaved, by worker: Int64, atMost most: Int, reading read: (SharedCircuit) -> Bool
    ) -> Bool {
        let circuits = self.circuits.all
        var looked = 0
        var canRead = true
        let start = self.next.load(ordering: .relaxed)
        for place in circuits.indices {
            if unsaved.circuits.count + looked >= most {
                self.next.store((start + place) % circuits.count, ordering: .relaxed)
                return false
            }
            let circuit = circuits[(start + place) % circuits.count]
            if canRead, circuit.counts.waitsForIncarnation {
                // Each read may wait: after a read in vain no other is tried.
                canRead = read(circuit)
                looked += 1
            }
            if let tally = circuit.counts.takeOwn(by: worker) {
                unsaved.tallies.append(tally)
                unsaved.circuits[tally.incarnation] = circuit
            }
        }
        return true
    }

    /// Called once the transaction that saves this batch is committed.
    func noteSaved(_ unsaved: Unsaved) {
        defer { self.isSaving.store(false, ordering: .releasing) }
        for tally in unsaved.tallies where tally.own != nil {
            unsaved.circuits[tally.incarnation]?.counts.noteSaved(tally)
        }
        self.board?.noteSaved(unsaved.tallies)
    }

    /// Called if the batch could not be saved: its numbers are not marked as saved, so the next batch has them.
    func noteNotSaved() { self.isSaving.store(false, ordering: .releasing) }

    // MARK: - The board

    /// Microseconds between two tries to open a board, or to make room on it.
    private static let pause: Int64 = 1_000_000

    /// The board, if it is open and not lost.
    var board: Board? { self.presentBoard.value.flatMap { $0.isLost ? nil : $0 } }

    /// Whether this process counts calls for itself alone: it has tried in vain to open a board, or has found no room
    /// on the board for some circuit.
    var isPrivate: Bool {
        self.board == nil && self.nextTry.load(ordering: .relaxed) != .min
            || self.circuits.all.contains { $0.counts.isPrivate }
    }

    /// Called when a database was opened, the same or another: its board is opened when it is needed.
    func fileOpened() {
        self.presentBoard.value = nil
        self.nextTry.store(.min, ordering: .relaxed)
        self.nextGrowth.store(.min, ordering: .relaxed)
        self.nextWait.store(.min, ordering: .relaxed)
    }

    /// The board; opens it if the time for a try has come.
    ///
    /// Another process may be opening the store now. This process waits for it until the deadline: a failure that was
    /// counted privately would be lost if this process were killed.
    ///
    /// - Parameters:
    ///   - lock: nil while the database is not open.
    ///   - incarnation: the number that the open database was born with; nil while it can't be read.
    func board(
        until deadline: Deadline, under lock: () -> LockFile?, of incarnation: () throws(BreakerStoreError) -> Int64?
    ) -> Board? {
        if let board = self.board { return board }
        // The clock, which may be the user's code, is asked while no lock is held.
        let uptime = self.clock.uptime
        guard self.nextTry.load(ordering: .relaxed) <= uptime else { return nil }
        let bootID = self.clock.host.bootID
        var hasTried = false
        let board = self.opening.withLock { _ -> Board? in
            // Another thread may have opened the board, or have tried in vain.
            if let board = self.board { return board }
            guard self.nextTry.load(ordering: .relaxed) <= uptime, let lock = lock() else { return nil }
            hasTried = true
            self.presentBoard.value = try? lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
                // Read under byte 0: another database can't be opened meanwhile, and lose its board to this one's.
                guard let incarnation = try incarnation() else { return nil }
                return try Board.openOrCreate(
                    of: self.file, BoardHeader.Owner(bootID: bootID, incarnation: incarnation))
            }
            let board = self.board
            // Threads that have waited for this try make none of their own.
            self.nextTry.store(board == nil ? .max : uptime, ordering: .relaxed)
            return board
        }
        guard hasTried else { return board }
        if board == nil {
            // The pause begins after the try, unless another file was opened meanwhile.
            let next = self.clock.uptime.addingSaturating(Self.pause)
            _ = self.nextTry.compareExchange(expected: .max, desired: next, ordering: .relaxed)
        } else {
            self.nextGrowth.store(.min, ordering: .relaxed)
        }
        return board
    }

    /// Whether a full board may be grown: on a full disk each end of a call would try.
    var mayGrow: Bool { self.nextGrowth.load(ordering: .relaxed) <= self.clock.uptime }

    func noteNoRoom() { self.nextGrowth.store(self.clock.uptime.addingSaturating(Self.pause), ordering: .relaxed) }

    /// Runs `body` while no other process creates or changes a board.
    ///
    /// If another process does so until the deadline, this process does not wait again for a while: each end of a call
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

    /// Releases the board: handles may outlive their store, and calls that they count later are lost.
    func closeBoard() {
        self.presentBoard.value = nil
        for circuit in self.circuits.all { circuit.counts.leaveBoard() }
    }

    /// Releases the board if it is no longer the board that other processes add to.
    func lookAround() {
        if let board = self.board, !board.checkPlace() { self.presentBoard.value = nil }
    }
}
