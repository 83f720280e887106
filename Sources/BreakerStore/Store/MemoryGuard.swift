import Synchronization

/// Circuits in this process's memory, for as long as the file can't be used.
final class MemoryGuard: Sendable {
    private let circuits = Mutex<[CircuitName: Circuit]>([:], rank: .memory)

    /// Applies one event of the machine.
    func change<Value>(
        _ name: String,
        rules: @autoclosure () -> Rules,
        at now: StoreTime,
        _ event: (inout Circuit, Moment) -> Value
    ) -> Value {
        self.circuits.withLock {
            let rules = rules()
            var circuit = $0[CircuitName(name)] ?? Circuit(rules: rules, at: now)
            circuit.rules = rules
            let value = event(&circuit, Moment(now: now, draw: .random(in: 0..<1)))
            _ = circuit.takeTransitions()
            $0[CircuitName(name)] = circuit
            return value
        }
    }

    /// Forgets the circuits, for the file can be used again.
    func forgetCircuits() { self.circuits.withLock { $0.removeAll() } }
}
