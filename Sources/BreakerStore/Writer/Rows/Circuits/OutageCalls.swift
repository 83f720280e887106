/// The rows of the table `transition` that count calls, not events: those that all outages of a circuit have hurt.
///
/// They stand there because the table has what the history no longer keeps. A colon is in no event's kind.
package enum OutageSum: String {
    case failed = "outage:failed"
    case refused = "outage:refused"
}

extension CircuitRow.FailedAndRefused {
    init(_ totals: CellTotals) {
        self.init(failed: Int64(clamping: totals.failed), refused: Int64(clamping: totals.refused))
    }

    /// Reads two columns; nil unless both have numbers from 0 on.
    init?(_ row: Row, _ failed: Int32, _ refused: Int32) {
        guard let failed = row.typedInteger(failed), let refused = row.typedInteger(refused), min(failed, refused) >= 0
        else { return nil }
        self.init(failed: failed, refused: refused)
    }

    /// The calls since an earlier instant; nil if counts were lost since then.
    func since(_ before: Self) -> Self? {
        guard self.failed >= before.failed, self.refused >= before.refused else { return nil }
        return Self(
            failed: self.failed.subtractingSaturating(before.failed),
            refused: self.refused.subtractingSaturating(before.refused))
    }

    /// Which of these calls, of one window generation, an outage has hurt.
    ///
    /// A closed circuit refuses nothing. What it seems to have refused belongs to the outage before: workers publish
    /// refusals about each second.
    ///
    /// - Parameter circuit: the circuit as it was in that window generation.
    func hurt(in circuit: Circuit) -> Self {
        if circuit.trippedSince != nil { return self }
        return Self(failed: 0, refused: circuit.state == .closed && circuit.hold == nil ? self.refused : 0)
    }
}

extension StoredCircuit {
    /// The failed and refused calls since the last change of state; nil where unknown.
    var callsOfGeneration: CircuitRow.FailedAndRefused? {
        self.row.countsAtGenerationStart.flatMap(CircuitRow.FailedAndRefused(self.totals).since)
    }

    /// The calls that the current outage has hurt; nil without an outage, and where unknown.
    var hurt: CircuitRow.FailedAndRefused? {
        guard self.row.circuit.trippedSince != nil else { return nil }
        return self.row.countsAtOutageStart.flatMap(CircuitRow.FailedAndRefused(self.totals).since)
    }
}
