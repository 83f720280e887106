import Synchronization

/// The board that the counts of this process's circuits go to, and what of them the file was told.
final class CallCounting: Sendable {
    private let file: StoreFile
    private let clock: StoreClock
    private let circuits: UsedCircuits
    private let presentBoard = ForkSafe<Board?>(nil)
    /// Before this uptime no other try is made to open a board.
    private let nextTry = Atomic<Int64>(.min)
    /// Before this uptime the board does not grow: it could not the last time.
    ///
    /// `Int64.min` if it could.
    private let nextGrowth = Atomic<Int64>(.min)
    /// Held while the board is opened: a thread that comes meanwhile waits, as it must not count elsewhere.
    private let opening = Mutex((), rank: .boardOpening)
    private let lastTold = Atomic<Int64>(.min)

    init(_ file: StoreFile, _ clock: StoreClock, _ circuits: UsedCircuits) {
        self.file = file
        self.clock = clock
        self.circuits = circuits
    }

    // MARK: - Telling the file

    /// Microseconds between two tellings.
    private static let interval: Int64 = 5_000_000
    /// The numbers of at most so many circuits are told in one transaction.
    static let mostAtOnce = 1_000
    /// The place among the circuits at which the next transaction begins.
    private let next = Atomic<Int>(0)

    /// Begins a telling of the file, if it is time for one; false if it is not.
    func beginTelling(at uptime: Int64) -> Bool {
        let last = self.lastTold.load(ordering: .relaxed)
        guard last == .min || uptime.subtractingSaturating(last) >= Self.interval else { return false }
        self.lastTold.store(uptime, ordering: .relaxed)
        // The first question of all begins the first interval.
        return last != .min
    }

    /// Takes the numbers that the file is to be told now.
    ///
    /// - Parameters:
    ///   - worker: under whose id calls are told that could not go to a board.
    ///   - isLast: whether this process can't tell any later. Otherwise it takes the numbers of some circuits only, as
    ///     other processes wait for the transaction, and those of the others for the next one.
    ///   - read: has counts learn what the file says of their circuit, which this process has not read yet; false if
    ///     the file can't be read just now.
    func takeTallies(
        by worker: Int64, isLast: Bool = false, reading read: (SharedCircuit) -> Bool
    ) -> [ToldCounts] {
        let uptime = self.clock.uptime
        let circuits = self.circuits.all
        var told: [ToldCounts] = []
        var looked = 0
        var canRead = true
        let start = isLast ? 0 : self.next.load(ordering: .relaxed)
        for place in circuits.indices {
            if !isLast, told.count + looked >= Self.mostAtOnce {
                self.next.store((start + place) % circuits.count, ordering: .relaxed)
                self.lastTold.store(uptime.subtractingSaturating(Self.interval), ordering: .relaxed)
                break
            }
            let circuit = circuits[(start + place) % circuits.count]
            let counts = circuit.counts
            if canRead, counts.waitsForBirth {
                // Each read may wait: after one in vain no other is tried.
                canRead = read(circuit)
                looked += 1
            }
            let tallies = counts.takeTallies(at: uptime, pause: isLast ? 0 : Self.interval, by: worker)
            let error = counts.takeError()
            if !tallies.isEmpty || error != nil {
                told.append(ToldCounts(name: circuit.name, tallies: tallies, error: error))
            }
        }
        return told
    }

    /// The file has been told these numbers: the transaction is committed.
    func told(_ told: [ToldCounts]) {
        let board = self.board
        for one in told {
            self.circuits[CircuitName(one.name)]?.counts.told(one.tallies)
            // This process may have no counters for what others have left on the board.
            for tally in one.tallies
            where tally.strays == nil && tally.board == board.map({ Int64(bitPattern: $0.number) }) {
                board.flatMap { CircuitCounter(left: tally.birth, on: $0) }?.told(tally.totals, tally.durations)
            }
        }
    }

    /// The file could not be told: numbers are taken again by themselves, as they differ from what was told last.
    func notTold(_ told: [ToldCounts]) {
        for one in told {
            if let error = one.error { self.circuits[CircuitName(one.name)]?.counts.putBack(error) }
        }
    }

    // MARK: - What others have left

    /// How often this process still looks for numbers on the board that the file has not been told.
    ///
    /// The second time finds what a process had taken to tell just before it was killed.
    private let looksLeft = Atomic<Int>(2)

    /// Looks for the births of circuits whose numbers on the board are newer than the file's, and which no process is
    /// telling; nil if this process has looked often enough, or the board is another file's.
    func lookForUntold(of owner: BoardHeader.Owner?) -> Set<UInt64>? {
        guard let owner, self.looksLeft.load(ordering: .relaxed) > 0 else { return nil }
        self.looksLeft.wrappingSubtract(1, ordering: .relaxed)
        guard let reader = BoardReader(at: self.file.board), reader.header.owner == owner else { return nil }
        return reader.untold(at: self.clock.uptime, pause: Self.interval)
    }

    /// Takes the numbers that others have left of these circuits.
    func takeLeft(_ names: [(name: String, birth: UInt64)], on board: Board) -> [ToldCounts] {
        let reader = BoardReader(at: self.file.board)
        let uptime = self.clock.uptime
        if names.count > Self.mostAtOnce {
            // The others come with the next transaction.
            self.looksLeft.wrappingAdd(1, ordering: .relaxed)
            self.lastTold.store(uptime.subtractingSaturating(Self.interval), ordering: .relaxed)
        }
        return names.prefix(Self.mostAtOnce).compactMap { name, key in
            let birth = Int64(bitPattern: key)
            let taken = CircuitCounter(left: birth, on: board)?.takeToTell(at: uptime, pause: Self.interval)
            guard let taken else { return nil }
            let durations = reader?.counter(birth: birth, CountingRules(measuresDurations: true))?.durationBuckets
            let tally = CircuitCounts.Tally(
                birth: birth, board: Int64(bitPattern: board.number), totals: taken.totals,
                durations: durations.flatMap { $0.count == 0 ? nil : $0 })
            return ToldCounts(name: name, tallies: [tally])
        }
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
            || self.nextGrowth.load(ordering: .relaxed) != .min
    }

    /// A database was opened, another one or the same one again: its board is opened when it is needed.
    func fileOpened() {
        self.presentBoard.value = nil
        self.nextTry.store(.min, ordering: .relaxed)
        self.nextGrowth.store(.min, ordering: .relaxed)
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

    /// Makes room on the board.
    ///
    /// After a failure the process does not try for a while: on a full disk each end of a call would try.
    func grow(
        under lock: LockFile?, until deadline: Deadline, _ body: () throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        guard let lock else {
            throw BreakerStoreError(code: .unavailable, message: "the lock file is not open", path: self.file.path)
        }
        let uptime = self.clock.uptime
        guard self.nextGrowth.load(ordering: .relaxed) <= uptime else {
            throw BreakerStoreError(code: .full, message: "the board could not grow just now", path: self.file.board)
        }
        do throws(BreakerStoreError) {
            try lock.withGuard(until: deadline, body)
            self.nextGrowth.store(.min, ordering: .relaxed)
        } catch {
            self.nextGrowth.store(uptime.addingSaturating(Self.pause), ordering: .relaxed)
            throw error
        }
    }

    /// Lets go of the board: handles may outlive their store, and what they count then reaches nobody.
    func closeBoard() {
        self.presentBoard.value = nil
        for circuit in self.circuits.all { circuit.counts.leaveBoard() }
    }

    /// Checks that the board is still the one that other processes add to; lets go of it otherwise.
    func lookAround() {
        if let board = self.board, !board.isInPlace() { self.presentBoard.value = nil }
    }
}
