import Synchronization

/// The circuit breaker of this process alone for one circuit, while the file can't be used.
final class InMemoryFallback: Sendable {
    private struct State: Sendable {
        var circuit: CircuitInMemory
        /// The reading of the file with which the circuit began; nil if the file was never read.
        var read: SharedCircuit.LastRead?

        /// Whether the circuit began with this reading, or with a later one by another thread.
        func isUpToDate(with read: SharedCircuit.LastRead?) -> Bool {
            guard let own = self.read, let read else { return self.read == nil && read == nil }
            return own.incarnation == read.incarnation && own.epoch >= read.epoch
        }
    }

    /// Boxed to save memory: each circuit that had calls while the file was lost keeps this object.
    private let state = Mutex<Boxed<State>?>(nil, rank: .memory)

    /// Applies one event of the state machine.
    ///
    /// - Parameters:
    ///   - read: the last reading of the file. The circuit begins again with a reading of a later epoch: while this
    ///     process can read the file but not write it, another process may have ended a hold.
    ///   - begin: makes the circuit from the reading.
    func change<Value: Sendable>(
        rules: Rules, from read: SharedCircuit.LastRead?, at now: StoreTime,
        _ event: (inout Circuit, Moment, FailureList) -> Value,
        begin: (SharedCircuit.LastRead) -> CircuitInMemory
    ) -> Value {
        self.state.withLock { boxed in
            var state: State
            var known = boxed?.value
            // If the first reading shows a closed circuit without a hold, there is no state to begin again with: the
            // circuit goes on with its failures, and takes only the rules.
            if known?.read == nil, read?.isUnusual == false { known?.read = read }
            if let known, known.isUpToDate(with: read) {
                state = known
            } else {
                let circuit = read.map(begin) ?? CircuitInMemory(Circuit(rules: rules, at: now))
                state = State(circuit: circuit, read: read)
            }
            // Emptied during the change: with two owners of the list of failures, Swift would copy the list.
            boxed = nil
            let moment = Moment(now: now, draw: .random(in: 0..<1))
            let value = state.circuit.apply(at: now, rules: rules) { circuit, failures in
                defer { _ = circuit.drainTransitions() }
                return event(&circuit, moment, failures)
            }
            boxed = .value(state)
            return value
        }
    }

    /// Forgets the circuit, because the file can be used again.
    func forget() { self.state.withLock { $0 = nil } }
}
