/// A circuit as the design describes it, for calls that come one after the other.
///
/// It shares no line with the library.
struct HistoryCircuit: Hashable {
    enum State: Hashable {
        case closed
        case open(until: Int64)
        case halfOpen(successes: Int)
    }

    struct Hold: Hashable {
        var isOpen: Bool
        var until: Int64?
    }

    /// A call that was let through to try the service.
    struct Probe: Hashable {
        var admission: Int
        var worker: Int
        var leaseEnds: Int64
        /// The kernel says that the worker is dead: the slot is free.
        var isDead = false
    }

    var exists = false
    var state = State.closed
    var hold: Hold?
    /// When the failures happened that count; of the rule by number all zero, since nothing expires in a history.
    var failures: [Int64] = []
    /// A success has forgotten the failures up to then.
    var forgottenUntil: Int64?
    var trips = 0
    /// The admissions since the last transition that have not been reported yet.
    ///
    /// All others are late.
    var admitted: Set<Int> = []
    var probes: [Probe] = []

    static let new = HistoryCircuit(exists: true)

    func hold(at now: Int64) -> Hold? {
        guard let hold = self.hold, hold.until.map({ now < $0 }) ?? true else { return nil }
        return hold
    }

    func liveProbes(at now: Int64) -> [Probe] { self.probes.filter { !$0.isDead && now < $0.leaseEnds } }

    /// Each transition: what was admitted before is late, and nobody probes.
    mutating func enter(_ state: State) {
        self.state = state
        self.admitted = []
        self.probes = []
    }

    /// What is told of the circuit.
    struct Look: Hashable {
        /// Nil where there is no circuit.
        var word: Word?
        var failures = 0
        var probes = 0
        var trips = 0

        enum Word: Int64 {
            case closed = 1
            case open, halfOpen, heldOpen, heldClosed
        }
    }

    func look(at now: Int64) -> Look {
        guard self.exists else { return Look() }
        let word: Look.Word =
            switch (self.hold(at: now)?.isOpen, self.state) {
            case (true, _): .heldOpen
            case (false, _): .heldClosed
            case (nil, .closed): .closed
            case (nil, .open): .open
            case (nil, .halfOpen): .halfOpen
            }
        return Look(
            word: word, failures: self.failures.count, probes: self.liveProbes(at: now).count, trips: self.trips)
    }
}

/// What happened to a circuit, and what was answered.
struct HistoryEvent {
    enum Admission: Equatable {
        case ran
        /// The time after which a call may be let through; nil if there is none, or it is not judged.
        case open(retryAfter: Int64?)
        case held(retryAfter: Int64?)
        case probing
    }

    enum Action: Equatable {
        case reset, release, probe, forget
        case hold(isOpen: Bool, time: Int64?)
    }

    enum What {
        case registered
        /// The answer is nil where it is not known. `isReported` is whether the history tells of the call's end.
        case admitted(Int, worker: Int, Admission?, isReported: Bool = true)
        /// A program that can't probe was told that the circuit is closed.
        case counted(Int)
        /// `isKnown` is whether the admission's answer is.
        case reported(of: Int, RecordedOutcome, isKnown: Bool)
        /// Of a call without an admission.
        case recorded(RecordedOutcome)
        /// `found` is whether the circuit was there; nil if that is not known.
        case operated(Action, found: Bool?)
        case looked(HistoryCircuit.Look?)
        case asked(isPermitted: Bool?)
        /// A worker's probes hold no slots.
        case died(worker: Int)
    }

    var what: What
    /// The times that the clock had while the call went on, from the earliest on: the call was decided at one of them.
    var times: [Int64]

    /// Whether this leaves every circuit as it is.
    var isRead: Bool {
        switch self.what {
        case .looked, .asked: true
        case .admitted(_, _, let answer, _): answer != nil && answer != .ran
        case .counted, .died, .operated, .recorded, .registered, .reported: false
        }
    }
}
