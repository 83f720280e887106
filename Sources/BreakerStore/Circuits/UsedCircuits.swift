import Synchronization

/// The circuits that this process uses in all its stores on one file, and those whose handles were released less than a
/// minute ago.
///
/// A service may have a circuit for each tenant, and ask for a handle at each request. Circuits for which it no longer
/// asks must stay neither in memory nor registered in the file.
final class UsedCircuits: Sendable {
    private struct State {
        var circuits: [CircuitName: SharedCircuit] = [:]
        /// The same circuits as a list: each second all circuits are visited, and there may be a hundred thousand.
        ///
        /// Nil if circuits were added or dropped since the list was made.
        var list: [SharedCircuit]?
        /// The circuits with a failure-rate or slow-call rule; nil if the list may be out of date.
        var withRateRules: [SharedCircuit]?
        /// Whether there may be configs that are not stored in the file.
        var hasUnstored = false
        /// Circuits that this process has dropped, and that are still registered in the file.
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
                if (newValue ?? self.circuits[name])?.counts.shortestWindow != nil { self.withRateRules = nil }
                self.circuits[name] = newValue
                self.list = nil
            }
        }

        mutating func drop(_ circuit: SharedCircuit, _ since: Uptime) {
            self[circuit.key] = nil
            self.unused.append(Unused(name: circuit.key, since: since))
        }
    }

    /// A circuit that this process no longer uses, to be unregistered in the file.
    struct Unused: Sendable {
        let name: CircuitName
        /// The uptime at which the last handle was released.
        let since: Uptime
    }

    /// How many circuits are dropped at once, and unregistered in one transaction: new handles wait for the one,
    /// commits of other processes for the other.
    private static let maxAtOnce = 256

    private let state = Mutex(State(), rank: .circuits)

    subscript(name: CircuitName) -> SharedCircuit? { self.state.withLock { $0[name] } }

    var isEmpty: Bool { self.state.withLock { $0.circuits.isEmpty } }

    var all: [SharedCircuit] { self.state.withLock { $0.all } }

    var withRateRules: [SharedCircuit] {
        self.state.withLock { state in
            let circuits = state.withRateRules ?? state.all.filter { $0.counts.shortestWindow != nil }
            state.withRateRules = circuits
            return circuits
        }
    }

    /// Called when rules may have changed: other circuits may have a failure-rate rule now.
    func resetRateCircuits() { self.state.withLock { $0.withRateRules = nil } }

    /// The configs in force, with which the circuits are registered in a new file.
    var inForce: [CircuitName: CircuitBreaker.Config] { self.state.withLock { $0.circuits }.mapValues(\.configInForce) }

    // MARK: - Handles

    /// Returns the circuit for a new handle, which is counted.
    ///
    /// Nil if this process has not registered the circuit with this config, or the file does not have the config.
    func use(_ config: CircuitBreaker.Config) -> SharedCircuit? {
        self.state.withLock { state in
            guard let known = state.circuits[CircuitName(config.name)], known.isRegistered(with: config) else {
                return nil
            }
            known.useBegan()
            return known
        }
    }

    /// Returns the circuit for a new handle, which is counted, while the circuit is being registered.
    func use(registering config: ConfigBox) -> SharedCircuit {
        let (circuit, isNew) = self.use(orMakeWith: config)
        if !isNew { circuit.register(config) }
        return circuit
    }

    /// Returns the circuit for a new handle, which is counted, and whether the circuit is new.
    func use(orMakeWith config: ConfigBox) -> (circuit: SharedCircuit, isNew: Bool) {
        let name = CircuitName(config.config.name)
        return self.state.withLock { state in
            let known = state.circuits[name]
            let circuit = known ?? SharedCircuit(config)
            circuit.useBegan()
            if known == nil { state[name] = circuit }
            return (circuit, known == nil)
        }
    }

    // MARK: - Unstored configs, unused circuits

    /// Keeps a config that could not be stored.
    func registrationFailed(_ config: SharedCircuit.Unstored, of circuit: SharedCircuit, isNew: Bool) {
        circuit.keep(config, isNew: isNew)
        self.state.withLock { $0.hasUnstored = true }
    }

    /// Drains the configs that are to be stored now.
    func drainUnstored() -> [(SharedCircuit, SharedCircuit.Unstored)] {
        let circuits: [SharedCircuit] = self.state.withLock { state in
            guard state.hasUnstored else { return [] }
            state.hasUnstored = false
            return state.all
        }
        return circuits.compactMap { circuit in circuit.drainUnstored().map { (circuit, $0) } }
    }

    var hasUnused: Bool { self.state.withLock { !$0.unused.isEmpty } }

    func drainUnused() -> [Unused] {
        self.state.withLock { state in
            let drained = Array(state.unused.prefix(Self.maxAtOnce))
            state.unused.removeFirst(drained.count)
            return drained
        }
    }

    func putBack(_ unused: [Unused]) { self.state.withLock { $0.unused += unused } }

    // MARK: - Dropping

    /// Drops circuits that were just forgotten in the file, unless handles use them.
    func drop(forgotten names: [String]) {
        self.state.withLock { state in
            for circuit in names.compactMap({ state.circuits[CircuitName($0)] }) {
                // Another thread may have registered the circuit again: then it has a handle, or has released it since.
                if let since = circuit.idleSince { state.drop(circuit, since) }
            }
        }
    }

    /// Drops circuits that have had no handles for a minute and have nothing left to save.
    ///
    /// At most 256 at a time, and none while earlier ones wait to be unregistered. If a circuit is used again before it
    /// is unregistered, its private counts begin at 0, and are added to those in the file.
    ///
    /// - Returns: whether there may be more.
    func dropIdle(at uptime: Uptime) -> Bool {
        guard !self.hasUnused else { return true }
        let idle = self.all.lazy.filter { $0.isIdle(at: uptime) && $0.isSettled }.prefix(Self.maxAtOnce)
        let found = Array(idle)
        guard !found.isEmpty else { return false }
        self.state.withLock { state in
            // A handle may have been made since.
            for circuit in found where circuit.isIdle(at: uptime) && state.circuits[circuit.key] === circuit {
                if let since = circuit.idleSince { state.drop(circuit, since) }
            }
        }
        return found.count == Self.maxAtOnce
    }
}
