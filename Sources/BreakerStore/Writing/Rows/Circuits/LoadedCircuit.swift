/// A circuit as a transaction has read it, and as the transaction will save it.
final class LoadedCircuit {
    /// The row as the file has it.
    var stored: CircuitRow
    var row: CircuitRow
    let failures: FailureRows

    init(_ stored: CircuitRow, in database: Database, at now: StoreTime) {
        self.stored = stored
        self.row = stored
        self.row.circuit.takeStampsAhead(for: now)
        self.failures = FailureRows(of: stored, in: database, at: now)
    }
}
