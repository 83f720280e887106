@testable import BreakerStore

/// Something that may happen in the explored world.
struct WorldEvent: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        // Calls.
        case calls = "a call arrives"
        case good = "a call succeeds"
        case bad = "a call fails"
        case ignored = "a call ends without a verdict"
        case givesUp = "a caller has waited until its deadline"
        // A process works on.
        case leads = "the leader goes on"
        case threadRuns = "the store's thread goes on"
        case looks = "a call reads through the writer"
        // Trouble.
        case unknownCommit = "the leader's COMMIT is made, and an error comes back"
        case longLog = "the leader goes on, and the log has grown long"
        case hangs = "the leader hangs in a system call"
        case losesFile = "the process can't write the file any longer"
        case findsFile = "the process can write the file again"
        case isKilled = "the process is killed"
        case starts = "a process starts"
        case isStopped = "the process is stopped"
        case goesOn = "the process is continued"
        case closes = "the store is closed"
        // Everybody.
        case timePasses = "a second passes"
        case reset = "an operator resets"
        case heldOpen = "an operator holds open"
        case heldOpenForTime = "an operator holds open for a second"
        case heldClosed = "an operator holds closed"
        case released = "an operator releases"
        case probeAllowed = "an operator allows probes"
        case forgotten = "an operator forgets the circuit"
    }

    let kind: Kind
    var process: Int?
    /// The call, by its place in its process, or the leader.
    var index = 0
    var by = StoreLife.Submitter.thread

    var description: String {
        guard let process else { return self.kind.rawValue }
        let call = self.index == 0 ? "" : ", number \(self.index + 1)"
        let by = self.kind.submits ? " (\(self.by))" : ""
        return "process \(process + 1): \(self.kind.rawValue)\(call)\(by)"
    }
}

extension WorldEvent.Kind {
    static let ofOperators: Set<Self> = [
        .reset, .heldOpen, .heldOpenForTime, .heldClosed, .released, .probeAllowed, .forgotten,
    ]

    /// Whether a process that is let run does it by itself, and at once.
    var isProgress: Bool { self == .leads || self == .threadRuns }

    /// Whether it comes with time.
    var isTime: Bool { self == .timePasses || self == .givesUp }

    /// Whether somebody must do it, or it ends what would go on: an open circuit must not need it to be probed.
    var isOfSomebody: Bool {
        [.reset, .forgotten, .probeAllowed, .isKilled, .closes, .hangs].contains(self)
    }

    var submits: Bool { [.calls, .good, .bad, .ignored].contains(self) }
}

/// How much of the world is explored.
struct WorldBounds {
    let name: String
    var processes: Int
    /// How many calls may be under way, in each process and in all of them.
    var calls: (each: Int, all: Int)
    var rules = Rules.ofWorld()
    /// Whether a change is one step, so that nothing happens between a caller's wish and its outcome.
    var isAtomic = false
    /// Who asks for changes.
    var submitters: [StoreLife.Submitter] = [.thread]
    /// Whether the store's thread looks each second whether the file is in its place.
    var maintains = false
    /// What happens beside what processes do by themselves.
    var kinds: Set<WorldEvent.Kind>
    /// How many events follow each other at most.
    var depth = Int.max
}

extension Rules {
    /// Each time is a second, so that an instant is past, now or in a second.
    static func ofWorld(_ trip: TripRule = .failures(2, window: World.second), probes: Int = 1) -> Rules {
        Rules(
            trip: trip,
            recovery: World.second,
            multiplier: 1,
            cap: World.second,
            jitter: 0,
            probeLimit: probes,
            successesToClose: probes,
            lease: World.second,
            minimumReporters: 1
        )
    }
}
