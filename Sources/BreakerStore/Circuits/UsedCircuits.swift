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
                if (newValue ?? self.circuits[name])?.counts.shortestWindow != nil { self.sharing = nil }
                self.circuits[name] = newValue
                self.list = nil
            }
        }

        mutating func drop(_ circuit: SharedCircuit, _ since: Int64) {
            self[circuit.key] = nil
            self.unused.append(Unused(name: circuit.key, since: since))
        }
    }

    /// A circuit that this process uses no longer, for the file to be told.
    struct Unused: Sendable {
        let name: CircuitName
        /// The uptime at which the last handle went.
        let since: Int64
    }

    /// So many are dropped at once, and told to the file in one transaction: meanwhile no handle can be made, and
    /// nobody else commits.
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

    /// A handle is to be made: returns the circuit with one use more.
    ///
    /// Nil if this process has not registered the circuit with this config, or the file has not been told.
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
        let (circuit, isNew) = self.use(orMakeWith: config)
        if !isNew { circuit.register(config) }
        return circuit
    }

    /// A handle is to be made: returns the circuit with one use more, and whether it was made just now.
    func use(orMakeWith config: KeptConfig) -> (circuit: SharedCircuit, isNew: Bool) {
        let name = CircuitName(config.config.name)
        return self.state.withLock { state in
            let known = state.circuits[name]
            let circuit = known ?? SharedCircuit(config)
            circuit.useBegan()
            if known == nil { state[name] = circuit }
            return (circuit, known == nil)
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
            for circuit in names.compactMap({ state.circuits[CircuitName($0)] }) {
                // Another thread may have registered the circuit anew, and let go of it.
                if let since = circuit.idleSince { state.drop(circuit, since) }
            }
        }
    }

    /// Drops circuits that have had no handles for a minute, and of which nothing is left to be told.
    ///
    /// At most 256 at a time, and none while earlier ones wait to be told to the file. A circuit that comes back while
    /// it waits begins its numbers anew, and the file still has its old ones.
    ///
    /// - Returns: whether there may be others.
    func dropIdle(at uptime: Int64) -> Bool {
        guard !self.hasUnused else { return true }
        let idle = self.all.lazy.filter { $0.isIdle(at: uptime) && $0.isSettled }.prefix(Self.mostAtOnce)
        let found = Array(idle)
        guard !found.isEmpty else { return false }
        self.state.withLock { state in
            // A handle may have been made meanwhile.
            for circuit in found where circuit.isIdle(at: uptime) && state.circuits[circuit.key] === circuit {
                if let since = circuit.idleSince { state.drop(circuit, since) }
            }
        }
        return found.count == Self.mostAtOnce
    }
}
