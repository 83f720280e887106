import Synchronization

/// A circuit in this process's memory, for as long as the file can't be used.
final class MemoryGuard: Sendable {
    private struct Guarding: Sendable {
        var circuit: CircuitInMemory
        /// The reading of the file with which memory has begun; nil if the file was never read.
        var read: SharedCircuit.LastRead?

        /// Whether memory has begun with this reading, or with a later one that another thread has had.
        func hasBegun(with read: SharedCircuit.LastRead?) -> Bool {
            guard let own = self.read, let read else { return self.read == nil && read == nil }
            return own.incarnation == read.incarnation && own.epoch >= read.epoch
        }
    }

    /// Boxed to save memory: after a loss each circuit that had calls meanwhile keeps this object.
    private let guarding = Mutex<Boxed<Guarding>?>(nil, rank: .memory)

    /// Applies one event of the machine.
    ///
    /// - Parameters:
    ///   - read: the last reading of the file. Memory begins again with a reading of a later epoch: while the file can
    ///     be read and not written, another process may have ended a hold.
    ///   - begin: makes the circuit from the reading.
    func change<Value: Sendable>(
        rules: Rules, from read: SharedCircuit.LastRead?, at now: StoreTime,
        _ event: (inout Circuit, Moment, FailureList) -> Value,
        begin: (SharedCircuit.LastRead) -> CircuitInMemory
    ) -> Value {
        self.guarding.withLock {
            var guarding: Guarding
            var known = $0?.value
            // The first reading of a closed circuit says no more than the rules: the failures so far still count.
            if known?.read == nil, read?.isUnusual == false { known?.read = read }
            if let known, known.hasBegun(with: read) {
                guarding = known
            } else {
                let circuit = read.map(begin) ?? CircuitInMemory(Circuit(rules: rules, at: now))
                guarding = Guarding(circuit: circuit, read: read)
            }
            // Empty during the change: two owners of the list of failures would make Swift copy the list.
            $0 = nil
            let moment = Moment(now: now, draw: .random(in: 0..<1))
            let value = guarding.circuit.apply(at: now, rules: rules) { circuit, failures in
                defer { _ = circuit.takeTransitions() }
                return event(&circuit, moment, failures)
            }
            $0 = .value(guarding)
            return value
        }
    }

    /// Forgets the circuit in memory, because the file can be used again.
    func forget() { self.guarding.withLock { $0 = nil } }
}
