import Synchronization

/// The circuits that this process uses, in all its stores on one file, and those whose handles are gone for less than a
/// minute.
///
/// A service may have a circuit for each tenant, and ask for a handle at each request. The circuits that it asks for no
/// longer must not stay in memory, nor registered in the file.
final class UsedCircuits: Sendable {
    private struct State {
        var circuits: [CircuitName: SharedCircuit] = [:]
        /// The same circuits as a list: each second all of them are looked at, which may be a hundred thousand.
        ///
        /// Nil if circuits have come or gone since the list was made.
        var list: [SharedCircuit]?
        /// Those with a rule about a share of the calls; nil if there may be others by now.
        var sharing: [SharedCircuit]?
        /// Whether there may be configs that the file has not been told.
        var hasUnstored = false
        /// Circuits that this process has dropped, and the file does not know yet.
        var unused: [Unused] = []

        var all: [SharedCircuit] {
            mutating get {
                let list = self.list ?? Array(self.circuits.values)
                self.list = list
                return list
            }
        }

        subscript(name: CircuitName) -> SharedCircuit? {
            get { self.circuits[name] }
            set {
                self.circuits[name] = newValue
                self.list = nil
                self.sharing = nil
            }
        }
    }

    /// A circuit that this process uses no longer.
    struct Unused: Sendable {
        let name: CircuitName
        /// The uptime at which the last handle went.
        let since: Int64
    }

    /// So many are dropped at once, or told to the file: no handle can be made meanwhile, and no commit.
    private static let mostAtOnce = 256

    private let state = Mutex(State(), rank: .circuits)

    subscript(name: CircuitName) -> SharedCircuit? { self.state.withLock { $0[name] } }

    var isEmpty: Bool { self.state.withLock { $0.circuits.isEmpty } }

    var all: [SharedCircuit] { self.state.withLock { $0.all } }

    /// The circuits with a rule about a share of the calls.
    var sharing: [SharedCircuit] {
        self.state.withLock { state in
            let sharing = state.sharing ?? state.all.filter { $0.counts.shortestWindow != nil }
            state.sharing = sharing
            return sharing
        }
    }

    /// Rules of circuits may have changed: others may be about shares now.
    func rulesMayHaveChanged() { self.state.withLock { $0.sharing = nil } }

    /// The configs in force, with which the circuits are registered in a new file.
    var inForce: [CircuitName: CircuitBreaker.Config] { self.state.withLock { $0.circuits }.mapValues(\.configInForce) }

    // MARK: - Handles

    /// A handle is to be made: returns the circuit with one use more; nil if this process does not use it.
    func use(_ name: CircuitName) -> SharedCircuit? {
        self.state.withLock { state in
            let known = state.circuits[name]
            known?.useBegan()
            return known
        }
    }

    /// The same; nil, too, if this process has not registered the circuit with this config, or the file has not been
    /// told.
    func use(_ config: CircuitBreaker.Config) -> SharedCircuit? {
        self.state.withLock { state in
            guard let known = state.circuits[CircuitName(config.name)], known.isRegistered(with: config) else {
                return nil
            }
            known.useBegan()
            return known
        }
    }

    /// A circuit is being registered, and a handle is to be made: returns the circuit with one use more.
    func use(registering config: KeptConfig) -> SharedCircuit {
        let name = CircuitName(config.config.name)
        return self.state.withLock { state in
            let known = state.circuits[name]
            let circuit = known ?? SharedCircuit(config)
            circuit.useBegan()
            if known == nil { state[name] = circuit } else { circuit.register(config) }
            return circuit
        }
    }

    // MARK: - What the file has not been told

    /// A config could not be stored.
    func registrationFailed(_ one: SharedCircuit.Unstored, of circuit: SharedCircuit, isNew: Bool) {
        circuit.keep(one, isNew: isNew)
        self.state.withLock { $0.hasUnstored = true }
    }

    /// Hands over the configs that the file is to be told now.
    func takeUnstored() -> [(SharedCircuit, SharedCircuit.Unstored)] {
        let circuits: [SharedCircuit] = self.state.withLock { state in
            guard state.hasUnstored else { return [] }
            state.hasUnstored = false
            return state.all
        }
        return circuits.compactMap { circuit in circuit.takeUnstored().map { (circuit, $0) } }
    }

    var hasUnused: Bool { self.state.withLock { !$0.unused.isEmpty } }

    func takeUnused() -> [Unused] {
        self.state.withLock { state in
            let taken = Array(state.unused.prefix(Self.mostAtOnce))
            state.unused.removeFirst(taken.count)
            return taken
        }
    }

    func putBack(_ unused: [Unused]) { self.state.withLock { $0.unused += unused } }

    // MARK: - Dropping

    /// Drops circuits that were forgotten just now, unless handles use them.
    func drop(forgotten names: [String]) {
        self.state.withLock { state in
            for name in names.map(CircuitName.init) where state.circuits[name]?.idleSince != nil { state[name] = nil }
        }
    }

    /// Drops circuits that have had no handles for a minute, and of which nothing is left to be told.
    func dropIdle(at uptime: Int64) {
        var idle = self.all.filter { $0.isIdle(at: uptime) && $0.isSettled }[...]
        while !idle.isEmpty {
            self.state.withLock { state in
                // A handle may have been made meanwhile.
                for circuit in idle.prefix(Self.mostAtOnce) where circuit.isIdle(at: uptime) {
                    let name = CircuitName(circuit.name)
                    guard let since = circuit.idleSince, state.circuits[name] === circuit else { continue }
                    state[name] = nil
                    state.unused.append(Unused(name: name, since: since))
                }
            }
            idle = idle.dropFirst(Self.mostAtOnce)
        }
    }
}
