import Synchronization

/// Circuits in this process's memory, for as long as the file can't be used.
final class MemoryGuard: Sendable {
    private let circuits = Mutex<[CircuitName: Circuit]>([:])

    /// Applies one event of the machine.
    func change<Value>(
        _ name: String,
        rules: @autoclosure () -> Rules,
        at now: StoreTime,
        _ event: (inout Circuit, Moment) -> Value
    ) -> Value {
        self.circuits.withLock {
            var circuit = $0[CircuitName(name)] ?? Circuit(rules: rules(), at: now)
            let value = event(&circuit, Moment(now: now, draw: .random(in: 0..<1)))
            _ = circuit.takeTransitions()
            $0[CircuitName(name)] = circuit
            return value
        }
    }

    func clear() { self.circuits.withLock { $0.removeAll() } }
}
