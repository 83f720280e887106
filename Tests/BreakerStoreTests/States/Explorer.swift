@testable import BreakerStore

/// Visits every state of a world that can be reached, nearest first.
struct Explorer {
    struct Found {
        let broken: BrokenPromise
        /// The fewest events that lead there.
        let trace: [WorldEvent]
    }

    private struct Step {
        let from: Int32
        let to: Int32
        let kind: WorldEvent.Kind
    }

    private(set) var transitions = 0
    private(set) var depth = 0
    /// Whether no state is left whose events were not tried.
    private(set) var isComplete = false
    private(set) var found: Found?

    private var numbers: [[UInt8]: Int32] = [:]
    private var origins: [(from: Int32, event: WorldEvent)?] = []
    private var steps: [Step] = []
    /// What the promises about the future need to know of each state.
    private var outlooks: [Outlook] = []
    private var firstUnexplored = 0

    var states: Int { self.origins.count }

    /// - Parameter looksAhead: whether the promises about the future are judged, which needs all states.
    init(_ bounds: WorldBounds, plant: Plant? = nil, looksAhead: Bool = true) {
        let world = World(bounds, plant: plant)
        var level = [world]
        self.numbers[world.key] = 0
        self.origins.append(nil)
        self.outlooks.append(Outlook(world))
        while !level.isEmpty, self.depth < bounds.depth {
            let first = self.states - level.count
            var next: [World] = []
            for (place, world) in level.enumerated() {
                for event in world.events {
                    var after = world
                    after.happen(event)
                    self.visit(after, by: event, from: Int32(first + place), &next)
                    if self.found != nil { return }
                }
            }
            self.firstUnexplored = first + level.count
            level = next
            self.depth += 1
        }
        self.isComplete = level.isEmpty
        if looksAhead { self.lookAhead() }
    }

    private mutating func visit(_ world: World, by event: WorldEvent, from origin: Int32, _ next: inout [World]) {
        self.transitions += 1
        if let broken = world.broken {
            self.found = Found(broken: broken, trace: self.trace(to: origin) + [event])
            return
        }
        let new = Int32(self.states)
        let number = self.numbers[world.key, default: new]
        if number == new {
            self.numbers[world.key] = new
            self.origins.append((origin, event))
            self.outlooks.append(Outlook(world))
            next.append(world)
        }
        self.steps.append(Step(from: origin, to: number, kind: event.kind))
    }

    private func trace(to state: Int32) -> [WorldEvent] {
        var events: [WorldEvent] = []
        var state = state
        while let origin = self.origins[Int(state)] {
            events.append(origin.event)
            state = origin.from
        }
        return events.reversed()
    }

    // MARK: - The future

    /// Judges the promises about what can still happen.
    private mutating func lookAhead() {
        // Each is shown by a way: from every state, events of these kinds lead to a state of this sort.
        self.requireWay(.ends, { !$0.waits }, by: { $0.isProgress || $0.isTime })
        self.requireWay(.woken, { !$0.hasWork || $0.isHalted }, by: { $0.isProgress })
        self.requireWay(.probedAgain, { $0.isClosed || !$0.mayCall }, by: { !$0.isOfSomebody })
    }

    private mutating func requireWay(
        _ promise: Promise, _ isGoal: (Outlook) -> Bool, by mayHappen: (WorldEvent.Kind) -> Bool
    ) {
        if self.found != nil { return }
        // What comes after a state whose events were not tried is not known.
        var reaches = self.outlooks.enumerated().map { $0 >= self.firstUnexplored || isGoal($1) }
        var origins: [[Int32]] = Array(repeating: [], count: self.states)
        for step in self.steps where mayHappen(step.kind) { origins[Int(step.to)].append(step.from) }
        var open = reaches.indices.filter { reaches[$0] }
        while let state = open.popLast() {
            for origin in origins[state] where !reaches[Int(origin)] {
                reaches[Int(origin)] = true
                open.append(Int(origin))
            }
        }
        guard let lost = reaches.firstIndex(of: false) else { return }
        let broken = BrokenPromise(promise: promise, how: "nothing that comes of itself leads out of the last state")
        self.found = Found(broken: broken, trace: self.trace(to: Int32(lost)))
    }

    private struct Outlook {
        /// Whether a caller waits in a process that can run.
        let waits: Bool
        /// Whether something waits to be committed.
        let hasWork: Bool
        /// Whether a process is stopped, or a leader hangs: others may have to wait for it.
        let isHalted: Bool
        /// Whether the circuit is closed and not held.
        let isClosed: Bool
        /// Whether there is a process whose calls may reach the file.
        let mayCall: Bool

        init(_ world: World) {
            let running = world.processes.filter { $0.isAlive && !$0.isStopped }
            self.waits = running.contains { $0.calls.contains { $0.ticket != nil } }
            self.hasWork = world.processes.contains { process in
                !process.life.waiting.isEmpty || process.calls.contains { $0.ticket != nil }
            }
            self.isHalted = world.processes.contains { $0.isStopped || $0.leaders.contains(where: \.hangs) }
            self.isClosed = world.file.circuit.state == .closed && world.expected.heldUntil == nil
            self.mayCall = world.processes.contains { process in
                process.isAlive && !process.life.isClosed && !process.leaders.contains(where: \.hangs)
            }
        }
    }
}
