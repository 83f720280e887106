import Synchronization

/// A circuit in this process's memory, for as long as the file can't be used.
final class MemoryGuard: Sendable {
    /// Boxed to save memory: after a loss each circuit that had calls meanwhile keeps this object.
    private let guarding = Mutex<Boxed<CircuitInMemory>?>(nil, rank: .memory)

    /// Applies one event of the machine.
    func change<Value: Sendable>(
        rules: @autoclosure () -> Rules,
        at now: StoreTime,
        _ event: (inout Circuit, Moment, FailureList) -> Value
    ) -> Value {
        self.guarding.withLock {
            let rules = rules()
            var guarding = $0?.value ?? CircuitInMemory(Circuit(rules: rules, at: now))
            // Empty during the change: two owners of the list of failures would make Swift copy the list.
            $0 = nil
            let moment = Moment(now: now, draw: .random(in: 0..<1))
            let value = guarding.apply(at: now, rules: rules) { circuit, failures in
                defer { _ = circuit.takeTransitions() }
                return event(&circuit, moment, failures)
            }
            $0 = .value(guarding)
            return value
        }
    }

    /// Opens the circuit in memory: its calls have reached a share, or a trip by a share could not be committed.
    ///
    /// - Parameter epoch: the epoch in which memory let the calls through; nil if the file let them through: then the
    ///   present epoch of memory is used.
    func shareReached(
        by counted: Circuit.WindowCounts, _ rules: @autoclosure () -> Rules, error: String?, at now: StoreTime,
        epoch: Int64? = nil
    ) {
        self.change(rules: rules(), at: now) { circuit, moment, _ in
            // Calls that memory let through in an earlier epoch of its circuit don't open the circuit.
            _ = circuit.shareReached(
                by: counted, epoch: epoch ?? circuit.epoch, error: error, at: moment, among: FailureList())
        }
    }

    /// Forgets the circuit in memory, because the file can be used again.
    func forget() { self.guarding.withLock { $0 = nil } }
}
