/// A circuit as a transaction has read it, and as the transaction will save it.
final class LoadedCircuit {
    /// The row as the file has it.
    var stored: CircuitRow
    /// The row with this transaction's changes.
    var row: CircuitRow
    let failures: FailureRows

    init(_ stored: CircuitRow, in database: Database, at now: StoreTime) {
        self.stored = stored
        self.row = stored
        self.row.circuit.clampFutureStamps(for: now)
        self.failures = FailureRows(of: stored, in: database, at: now)
    }
}
