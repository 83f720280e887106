import Synchronization

/// The circuits that a store has handed out handles of, and those whose handles are gone for less than a minute.
///
/// A service may have a circuit for each tenant, and ask for a handle at each request. The circuits that it asks for no
/// longer must not stay in memory, nor registered in the file.
final class CircuitTable: Sendable {
    /// When to look whether a circuit's handles are gone.
    private struct Turn {
        let name: CircuitName
        /// A circuit that was forgotten and came again is another one, with a turn of its own.
        let number: Int
        let due: Int64
    }

    private struct State {
        var circuits = NameTable<SharedCircuit>()
        /// About in the order in which they are due; those before `next` are over.
        var turns: [Turn] = []
        var next = 0
        var lastNumber = 0
        var hasStore = true

        func isTurnDue(at uptime: Int64) -> Bool { self.next < self.turns.count && self.turns[self.next].due <= uptime }

        mutating func takeTurn(dueAt uptime: Int64) -> Turn? {
            guard self.isTurnDue(at: uptime) else { return nil }
            defer {
                self.next += 1
                // Moved seldom enough that each turn is moved about once.
                if self.next * 2 > self.turns.count {
                    self.turns.removeFirst(self.next)
                    self.next = 0
                }
            }
            return self.turns[self.next]
        }
    }

    /// A circuit without handles.
    struct Idle: Sendable {
        let name: CircuitName
        /// The uptime at which the last handle went.
        let since: Int64
    }

    /// For how many microseconds a circuit without handles is kept: a service that asks for a handle at each request
    /// registers its circuits no more often.
    private static let idleTime: Int64 = 60_000_000
    /// So many turns take less than a millisecond, in which no handle can be made.
    private static let turnsAtOnce = 256

    private let state = Mutex(State(), rank: .store)

    /// The circuit of a config that this process has registered, with one use more; nil if there is none.
    func use(_ config: CircuitBreaker.Config) -> SharedCircuit? {
        self.state.withLock { state in
            guard let known = state.circuits[CircuitName(config.name)], known.isRegistered(with: config) else {
                return nil
            }
            known.useBegan()
            return known
        }
    }

    /// The store was closed; its circuits are let go of as those of an open one.
    func storeLeft() { self.state.withLock { $0.hasStore = false } }

    /// Whether the store was closed, and all its circuits are let go of.
    var isOver: Bool { self.state.withLock { !$0.hasStore && $0.circuits.isEmpty } }

    /// The config with which this process has registered the circuit; nil if the store does not use it.
    func config(of name: CircuitName) -> KeptConfig? { self.state.withLock { $0.circuits[name]?.keptConfig } }

    /// What all handles of the circuit share, with one use more; made if there is none.
    ///
    /// - Returns: the circuit, and whether it is time to look for circuits without handles.
    func use(
        registeredWith config: KeptConfig, at uptime: Int64, _ counting: CallCounting
    ) -> (circuit: SharedCircuit, isTurnDue: Bool) {
        let name = CircuitName(config.config.name)
        return self.state.withLock { state in
            if let known = state.circuits[name] {
                known.register(config)
                known.useBegan()
                return (known, false)
            }
            state.lastNumber += 1
            let circuit = SharedCircuit(
                config, number: state.lastNumber, counts: counting.counts(of: name, with: config))
            circuit.useBegan()
            state.circuits[name] = circuit
            let isTurnDue = state.isTurnDue(at: uptime)
            state.turns.append(Turn(name: name, number: circuit.number, due: uptime.addingSaturating(Self.idleTime)))
            return (circuit, isTurnDue)
        }
    }

    /// Drops circuits that were forgotten just now, unless handles use them.
    ///
    /// - Parameter dropped: called with those, before a handle can be made for one of them.
    func drop(forgotten names: [String], _ dropped: ([CircuitName]) -> Void) {
        self.state.withLock { state in
            let unused = names.map { CircuitName($0) }.filter { state.circuits[$0]?.idleSince != nil }
            for name in unused { state.circuits[name] = nil }
            dropped(unused)
        }
    }

    /// Drops circuits that have had no handles for a minute: some of them, so that nobody waits long for the lock.
    ///
    /// - Parameters:
    ///   - mayDrop: whether nothing is left to be told of the circuit.
    ///   - dropped: called with those, before a handle can be made for one of them.
    /// - Returns: whether others are due.
    func dropIdle(at uptime: Int64, if mayDrop: (SharedCircuit) -> Bool, _ dropped: ([Idle]) -> Void) -> Bool {
        self.state.withLock { state in
            var idle: [Idle] = []
            for _ in 0..<Self.turnsAtOnce {
                guard let turn = state.takeTurn(dueAt: uptime) else { break }
                guard let circuit = state.circuits[turn.name], circuit.number == turn.number else { continue }
                let since = circuit.idleSince ?? uptime
                let end = since.addingSaturating(Self.idleTime)
                if end <= uptime, mayDrop(circuit) {
                    state.circuits[turn.name] = nil
                    idle.append(Idle(name: turn.name, since: since))
                } else {
                    let due = end > uptime ? end : uptime.addingSaturating(Self.idleTime)
                    state.turns.append(Turn(name: turn.name, number: turn.number, due: due))
                }
            }
            dropped(idle)
            return state.isTurnDue(at: uptime)
        }
    }
}
