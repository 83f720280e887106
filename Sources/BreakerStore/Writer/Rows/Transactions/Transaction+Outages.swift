/// Counts the calls that outages hurt: those that failed or were refused from a trip on.
extension Transaction {
    /// Records the current totals as the start of a new window generation.
    ///
    /// - Returns: the failed and refused calls of the window generation that ends; nil where unknown.
    func endGeneration(
        of row: inout CircuitRow, by transitions: [Transition]
    ) throws(BreakerStoreError) -> CircuitRow.FailedAndRefused? {
        var now = try self.counts(of: row)
        var ended = row.countsAtGenerationStart.flatMap(now.since)
        let trip = transitions.last { $0.kind == .tripped }
        if let trip {
            // The failures that tripped the circuit are calls of the outage, not of the time before it.
            let failures = min(trip.countedFailures, ended?.failed ?? now.failed)
            now.failed = now.failed.subtractingSaturating(failures)
            ended?.failed -= failures
        }
        row.countsAtGenerationStart = now
        if row.circuit.trippedSince == nil {
            row.countsAtOutageStart = nil
        } else if trip != nil {
            row.countsAtOutageStart = now
        }
        return ended
    }

    /// The failed and refused calls of a circuit until now.
    func counts(of row: CircuitRow) throws(BreakerStoreError) -> CircuitRow.FailedAndRefused {
        CircuitRow.FailedAndRefused(
            try self.database.totals(of: row.id, with: self.board.totals(of: row), ofBoard: self.board.number))
    }

    /// Adds the calls of a window generation that ends to the circuit's sums of all outages.
    ///
    /// - Parameter before: the circuit as it was in that window generation.
    func addToOutages(
        _ ended: CircuitRow.FailedAndRefused, of circuit: Int64, _ before: Circuit
    ) throws(BreakerStoreError) {
        let hurt = ended.hurt(in: before)
        // Limited on both sides: an integer that overflows would become a floating-point number.
        for (sum, count) in [(OutageSum.failed, hurt.failed), (.refused, hurt.refused)] where count > 0 {
            try self.database.run(
                """
                INSERT INTO transition (circuit, kind, count) VALUES (?1, ?2, ?3)
                ON CONFLICT (circuit, kind) DO UPDATE SET count = min(count, 9223372036854775806 - ?3) + ?3
                """,
                .integer(circuit), .text(sum.rawValue), .integer(min(count, 1 << 62))
            )
        }
    }
}
