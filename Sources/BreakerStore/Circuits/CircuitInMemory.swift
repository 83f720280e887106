/// A circuit together with its failures, without a file that keeps them.
struct CircuitInMemory: Sendable {
    private(set) var circuit: Circuit
    private(set) var failures: FailureList

    init(_ circuit: Circuit, _ failures: [Circuit.Failure] = []) {
        self.circuit = circuit
        self.failures = FailureList(failures)
    }

    /// Applies one event of the state machine, and its changes to the failures.
    ///
    /// - Parameter rules: the rules in force from now on.
    mutating func apply<Result>(
        at now: StoreTime,
        rules: Rules? = nil,
        _ event: (inout Circuit, FailureList) -> Result
    ) -> Result {
        if let rules { self.circuit.rules = rules }
        self.circuit.failureCount = self.failures.recount(for: self.circuit, at: now)
        let result = event(&self.circuit, self.failures)
        for change in self.circuit.drainFailureChanges() { self.failures.apply(change) }
        self.circuit.failureCount = self.failures.recount(for: self.circuit, at: now)
        return result
    }
}
