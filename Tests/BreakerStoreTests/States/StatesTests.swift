import Testing

@testable import BreakerStore

/// All that a few processes can do to one circuit, in every order: each state is held against the promises.
///
/// The circuit and the stores' lives are the real ones; see `World`.
@Suite(.timeLimit(.minutes(10))) struct StatesTests {
    private static let ends: Set<WorldEvent.Kind> = [.calls, .good, .bad, .ignored]
    private static let waits: Set<WorldEvent.Kind> = [.givesUp, .timePasses]

    /// Three processes and everything that is done to a circuit; a commit is one step.
    static let circuit = WorldBounds(
        name: "circuit", processes: 3, calls: (1, 3), isAtomic: true,
        kinds: Self.ends.union([.isKilled, .starts, .timePasses]).union(WorldEvent.Kind.ofOperators))
    /// The same with two probes at a time, and successes that forget failures.
    static let probes = WorldBounds(
        name: "probes", processes: 3, calls: (1, 3), rules: .ofWorld(.consecutiveFailures(2), probes: 2),
        isAtomic: true, kinds: Self.ends.union([.isKilled, .starts, .timePasses, .reset]))
    /// Two processes whose commits come between each other's.
    static let commits = WorldBounds(
        name: "commits", processes: 2, calls: (1, 2),
        kinds: Self.ends.union(Self.waits).union([.isKilled, .starts, .reset]), depth: 16)
    /// The same with a file that fails, and processes that are stopped.
    static let trouble = WorldBounds(
        name: "trouble", processes: 2, calls: (1, 2),
        kinds: Self.waits.union([.calls, .bad, .isStopped, .goesOn, .losesFile, .findsFile, .unknownCommit]),
        depth: 12)
    /// One process with two callers of all sorts.
    static let callers = WorldBounds(
        name: "callers", processes: 1, calls: (2, 2), submitters: [.thread, .task, .nobody],
        kinds: Self.waits.union([.calls, .bad, .losesFile, .findsFile, .closes]), depth: 10)
    /// One process with one call, and all that can happen to its store.
    static let alone = WorldBounds(
        name: "alone", processes: 1, calls: (1, 1), rules: .ofWorld(.failures(1, window: World.second)),
        submitters: [.thread, .task, .nobody], maintains: true,
        kinds: Self.ends.union(Self.waits).union([
            .looks, .longLog, .hangs, .losesFile, .findsFile, .unknownCommit, .closes,
        ]), depth: 12)

    /// One process with one call at a time, and all of its commits.
    static let claims = WorldBounds(
        name: "claims", processes: 1, calls: (1, 1), rules: .ofWorld(.failures(1, window: World.second)),
        kinds: Self.ends.union(Self.waits).union([.isKilled, .starts, .isStopped, .goesOn]))

    @Test(arguments: [Self.circuit, Self.probes, Self.commits, Self.trouble, Self.callers, Self.alone, Self.claims])
    func noStateBreaksAPromise(_ bounds: WorldBounds) {
        let explorer = Explorer(bounds)
        print("states, \(explorer.summary(of: bounds))")
        #expect(explorer.found == nil, "\(explorer.found?.text ?? "")")
    }

    @Test(arguments: Plant.allCases) func aWrongLineBreaksItsPromise(_ plant: Plant) throws {
        let bounds = Self.bounds(for: plant)
        let explorer = Explorer(bounds, plant: plant)
        let found = try #require(explorer.found, "\(plant) is not noticed: \(explorer.summary(of: bounds))")
        print("states, \(plant): \(found.text)")
        #expect(found.broken.promise == plant.breaks)
    }

    /// Where the wrong line shows.
    private static func bounds(for plant: Plant) -> WorldBounds {
        switch plant {
        case .epochOfReportIgnored, .epochStaysAtReset, .epochFloorForgotten, .leaseOfProbeIgnored,
            .probesKeptAtTransition, .probeBeyondLimit, .deadKeepSlots, .openForEver, .tripToldTwice, .tripNotTold,
            .holdKeptAtRelease, .holdLostAtCall:
            Self.circuit
        case .failureNotKept, .acknowledgedBeforeCommit: Self.commits
        case .reportToldAgainAsNew, .staleCircuitWritten: Self.trouble
        case .twoLead, .gatesShutTooLate: Self.callers
        case .slotNotGivenBack: Self.claims
        case .lossForgetsTickets, .takenTicketsForgotten: Self.alone.cut(at: 11)
        case .threadNeverWoken, .taskNotWoken: Self.alone.cut(at: 8)
        }
    }
}

extension WorldBounds {
    func cut(at depth: Int) -> WorldBounds {
        var bounds = self
        bounds.depth = depth
        return bounds
    }
}

extension Explorer {
    func summary(of bounds: WorldBounds) -> String {
        let end = self.isComplete ? "all of them" : "cut at this depth"
        return "\(bounds.name): \(self.states) states, \(self.transitions) transitions, depth \(self.depth), \(end)"
    }
}

extension Explorer.Found {
    var text: String {
        "\(self.broken.promise.rawValue): \(self.broken.how)\n"
            + self.trace.enumerated().map { "  \($0 + 1). \($1)" }.joined(separator: "\n")
    }
}
