/// The state machine of a circuit, without a clock and a database.
///
/// Time, tokens, random numbers and the live workers are arguments. Each event is a mutating function, named in the
/// past tense (`callFailed`, `released`, `probesAllowed`), that returns its effect. The values come from rows that
/// other processes wrote, perhaps with other releases: for an unexpected value a function returns `stale`, and never
/// traps.
struct Circuit: Equatable, Sendable {
    enum State: Hashable, Sendable {
        /// Calls go through; enough failures lead to `open`.
        case closed
        /// Calls are refused until the circuit is due; then the first caller that claims a slot leads to `halfOpen`.
        case open(until: StoreTime)
        /// A few probes try the service; enough successes lead to `closed`, a failure that the rule does not tolerate
        /// leads back to `open`.
        case halfOpen(successes: Int)
        /// A state of a later release: calls go through uncounted.
        ///
        /// Only an operator's reset leads out of it, to `closed`.
        case unknown(String, until: StoreTime?)
    }

    /// A failed call, with the key of its report.
    struct Failure: Hashable, Comparable, Sendable {
        var at: StoreTime
        var worker: WorkerID
        var sequence: Int64

        static func < (left: Failure, right: Failure) -> Bool {
            (left.at, left.worker, left.sequence) < (right.at, right.worker, right.sequence)
        }
    }

    /// A slot that a worker has claimed in the half-open state.
    struct Probe: Hashable, Sendable {
        var token: Int64
        var worker: WorkerID
        var since: StoreTime
        var leaseEnds: StoreTime
        var prober: Prober?

        /// How long the slot was given for, renewals included.
        var lease: Duration {
            .microseconds(max(0, self.leaseEnds.microseconds.subtractingSaturating(self.since.microseconds)))
        }
    }

    /// The owner of a slot, for people: the worker's row may be gone when an operator reads the slot.
    struct Prober: Hashable, Sendable, CustomStringConvertible {
        var name: String
        var pid: Int32

        var description: String { "\(self.name)[\(self.pid)]" }
    }

    /// How the current outage began.
    struct Trip: Hashable, Sendable {
        var reason: String?
        /// How many failures, among how many calls, made the circuit trip; nil if unknown.
        var failed: Int64?
        var calls: Int64?
    }

    /// An operator's command that overrides the state.
    struct Hold: Hashable, Sendable {
        var state: HoldState
        var since: StoreTime
        var until: StoreTime?
        var by: String?
        var reason: String?
    }

    var rules: Rules
    var state: State
    var since: StoreTime
    /// Rises with each change of state, hold or reset; an outcome from another epoch is late.
    var epoch: Epoch
    /// Rises by one with each new epoch.
    var windowGeneration = WindowGeneration.first
    /// How many failures count at the time of the event; the owner of the failures sets this before each event.
    var failureCount = FailureCount.none
    /// Under the consecutive rule, a success has forgotten the failures up to this time.
    var forgottenUntil: StoreTime?
    var tripsInARow: Int
    /// When the circuit last started over: closed by its probes or by the fleet, reset, or allowed to probe by an
    /// operator; nil if never.
    ///
    /// An outage that a call before this time declares is not believed.
    var clearedAt: StoreTime?
    /// When the circuit first tripped since it was last closed; nil if unknown.
    var trippedSince: StoreTime?
    /// That first trip; nil while the circuit is closed.
    var trip: Trip?
    var probes: [Probe]
    /// How many probes have failed in this half-open state; 0 in other states.
    var probeFailures = 0
    var hold: Hold?
    var lastError: String?
    /// The events since the circuit was loaded: each becomes a row of the history.
    private(set) var transitions: [Transition] = []
    /// The changes to the kept failures since they were last drained, in order.
    private var failureChanges: [FailureChange] = []

    init(
        rules: Rules,
        state: State,
        since: StoreTime,
        epoch: Epoch,
        forgottenUntil: StoreTime? = nil,
        tripsInARow: Int = 0,
        probes: [Probe] = [],
        hold: Hold? = nil,
        lastError: String? = nil
    ) {
        self.rules = rules
        self.state = state
        self.since = since
        self.epoch = epoch
        self.forgottenUntil = forgottenUntil
        self.tripsInARow = tripsInARow
        self.probes = probes
        self.hold = hold
        self.lastError = lastError
    }

    /// Creates a closed circuit.
    ///
    /// `epochFloor` is above each epoch of any forgotten circuit, so that no late outcome counts for the new one.
    init(rules: Rules, at now: StoreTime, epochFloor: Epoch = 0) {
        self.init(rules: rules, state: .closed, since: now, epoch: max(Epoch(at: now), epochFloor))
    }

    /// The hold that is in force at `now`.
    func hold(at now: StoreTime) -> Hold? {
        guard let hold = self.hold else { return nil }
        if let until = hold.until, until <= now { return nil }
        return hold
    }

    /// The hold by which the circuit refuses calls at `now`.
    func holdOpen(at now: StoreTime) -> Hold? { self.hold(at: now).flatMap { $0.state == .open ? $0 : nil } }

    /// The instant from which failures count at `now`; nil if all failures count.
    ///
    /// The window is inclusive: a failure that is exactly as old as the window counts.
    func startOfCounting(at now: StoreTime) -> StoreTime? {
        switch self.rules.trip.kind {
        case .failures(_, let window): now.subtracting(window.saturatingMicroseconds)
        case .consecutiveFailures, .failureRate, .unknown: nil
        }
    }

    // MARK: - Transitions

    mutating func record(
        _ kind: CircuitEvent.Kind,
        from: String? = nil,
        reason: String? = nil,
        subject: String? = nil,
        countedFailures: Int64 = 0,
        isOfItself: Bool = false
    ) {
        self.transitions.append(
            Transition(
                kind: kind, from: from, to: self.word, reason: reason, subject: subject,
                countedFailures: countedFailures, isOfItself: isOfItself)
        )
    }

    /// Returns and clears the events since the circuit was loaded, oldest first.
    mutating func drainTransitions() -> [Transition] {
        defer { self.transitions.removeAll() }
        return self.transitions
    }

    /// Makes a transition: begins a new epoch, frees all slots, and records the event.
    mutating func move(
        to state: State, at now: StoreTime, as kind: CircuitEvent.Kind, reason: String? = nil,
        countedFailures: Int64 = 0
    ) {
        let from = self.word
        self.enter(state, at: now)
        self.record(kind, from: from, reason: reason, countedFailures: countedFailures)
    }

    /// Begins a new epoch and frees all slots; the caller records the event.
    mutating func enter(_ state: State, at now: StoreTime) {
        self.state = state
        if case .closed = state {
            self.trippedSince = nil
            self.trip = nil
        }
        self.since = now
        self.epoch = self.epoch.next(at: now)
        self.windowGeneration = self.windowGeneration.next
        self.probes.removeAll()
        self.probeFailures = 0
    }

    /// Queues a change to the kept failures; their owner applies it after the event.
    mutating func change(_ change: FailureChange) { self.failureChanges.append(change) }

    mutating func drainFailureChanges() -> [FailureChange] {
        guard !self.failureChanges.isEmpty else { return [] }
        defer { self.failureChanges.removeAll() }
        return self.failureChanges
    }

    mutating func forgetFailures() {
        self.change(.dropAll)
        self.failureCount = .none
        self.lastError = nil
    }

    /// The state or the hold as one word for people and for the history.
    var word: String {
        switch self.hold?.state {
        case .open: "held-open"
        case .closed: "held-closed"
        case nil: self.state.word
        }
    }
}

extension Circuit.State {
    var isKnown: Bool {
        switch self {
        case .closed, .open, .halfOpen: true
        case .unknown: false
        }
    }

    var word: String {
        switch self {
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half-open"
        case .unknown(let word, until: _): word
        }
    }
}
