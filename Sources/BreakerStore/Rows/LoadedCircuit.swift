/// A circuit as a transaction has read it, and as the transaction leaves it.
final class LoadedCircuit {
    let name: CircuitName
    /// As it stands in the file.
    var stored: CircuitRow
    var row: CircuitRow
    let failures: FailureRows
    /// Whether the transaction that is under way has asked for it.
    var isInUse = false

    init(_ name: CircuitName, _ stored: CircuitRow, _ failures: FailureRows, at now: StoreTime) {
        self.name = name
        self.stored = stored
        self.row = stored
        self.row.circuit.takeStampsAhead(for: now)
        self.failures = failures
    }
}
