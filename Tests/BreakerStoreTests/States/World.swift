@testable import BreakerStore

/// A few processes that share one circuit: the real `Circuit` and the real `StoreLife`, and around them as little as
/// can be of what the store does with them.
///
/// An instant is a number of seconds. A transaction is atomic, as SQLite makes it.
struct World {
    /// In the microseconds of store time.
    static let second: Int64 = 1_000_000
    private static let start = ContinuousClock.now

    let bounds: WorldBounds
    let plant: Plant?
    var now = 0
    /// What is committed.
    var file: CircuitInMemory
    /// The process that has the write lock.
    var lockedBy: Int?
    var processes: [Process] = []
    /// What the file must hold, by what was done: see `World+Circuit.swift`.
    var expected = Expected()
    /// The first promise that is broken.
    var broken: BrokenPromise?
    private var lastNumber = 0

    /// A process with one open store.
    struct Process {
        let worker: WorkerID
        var life: StoreLife
        var isAlive = true
        var isStopped = false
        var canWrite = true
        var gatesAreOpen = true
        var isThreadAwake = false
        var threadSleepsUntil: Int?
        var hasThreadEnded = false
        var calls: [Call] = []
        /// Whoever uses the connection that writes: more than one is wrong.
        var leaders: [Leader] = []
        /// Reports that could not be committed.
        var kept: [WorldTicket] = []
        /// The circuit as this process has seen it last: only a wrong program goes by it.
        var remembered: CircuitInMemory
    }

    /// A call that asked the file for leave, until it has reported its end.
    struct Call {
        let number: Int
        var leave = Leave()
        /// What it waits for; nil while it runs.
        var ticket: WorldTicket?
    }

    /// Leave to make a call.
    struct Leave {
        var epoch: Epoch = 0
        var probe: Int64?
        /// The end of the probe's lease.
        var ends = Int.max
        /// The window generation of the circuit's life in which it was given, counted by the world.
        var windowGeneration = 0
    }

    struct Leader {
        enum Role {
            case caller
            case reader
            case thread
            case leavingThread
        }
        enum Stage {
            case begins
            case waitsForLock
            case hasLock([WorldTicket])
            case hasCommitted(Round)
            case ends
            case isOver
        }

        let role: Role
        var stage = Stage.begins
        var hangs = false
    }

    /// What has become of the tickets of one transaction.
    struct Round {
        var done: [(ticket: WorldTicket, leave: Leave?)] = []
        var failed: [WorldTicket] = []
        var isLost = false
    }

    init(_ bounds: WorldBounds, plant: Plant? = nil) {
        self.bounds = bounds
        self.plant = plant
        var rules = bounds.rules
        if plant == .probeBeyondLimit { rules.probes.limit += 1 }
        self.file = CircuitInMemory(Circuit(rules: rules, at: StoreTime(microseconds: 0)))
        for _ in 0..<bounds.processes { self.processes.append(self.newProcess()) }
    }

    mutating func newNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    mutating func newProcess() -> Process {
        var life = StoreLife(path: "/a", firstRetry: .seconds(1), maintainsAlways: self.bounds.maintains)
        life.opened(mayCacheDecisions: true)
        return Process(
            worker: WorkerID(Int64(self.newNumber())), life: life, isThreadAwake: self.bounds.maintains,
            remembered: self.file)
    }

    // MARK: - Time

    var time: StoreTime { StoreTime(microseconds: Int64(self.now) * Self.second) }
    var instant: StoreLife.Instant { Self.instant(self.now) }

    static func instant(_ seconds: Int) -> StoreLife.Instant { Self.start + .seconds(seconds) }
    static func seconds(_ instant: StoreLife.Instant) -> Int { Int((instant - Self.start).components.seconds) }

    /// Tells whether a worker lives, as its lock on a byte of the lock file does.
    var isAlive: (WorkerID) -> Bool {
        if self.plant == .deadKeepSlots { return { _ in true } }
        let living = self.living
        return { living.contains($0) }
    }

    var living: [WorkerID] { self.processes.filter { $0.isAlive && !$0.hasThreadEnded }.map(\.worker) }

    mutating func breaks(_ promise: Promise, _ how: String) {
        if self.broken == nil { self.broken = BrokenPromise(promise: promise, how: how) }
    }
}

/// A change that waits to be committed.
final class WorldTicket: AnyTicket {
    let number: Int
    /// When its caller has waited long enough.
    let due: Int
    let deadline: Deadline
    /// The end of a call; nil if the call asks for leave.
    let input: OutcomeReport?
    let leave: World.Leave
    let submitter: StoreLife.Submitter

    init(_ number: Int, due: Int, _ input: OutcomeReport?, _ leave: World.Leave, by submitter: StoreLife.Submitter) {
        self.number = number
        self.due = due
        self.deadline = Deadline(at: World.instant(due))
        self.input = input
        self.leave = leave
        self.submitter = submitter
    }

    var hasCaller: Bool {
        switch self.submitter {
        case .thread, .task: true
        case .nobody: false
        }
    }

    // The world commits and ends tickets itself, so that one state of the world does not change another.
    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void { {} }
    func fail(_ error: BreakerStoreError) -> Bool { true }
}
