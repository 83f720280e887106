/// The calls that a cell has counted, by outcome; late outcomes included.
struct CellTotals: Equatable, Sendable {
    var succeeded: UInt64 = 0
    var failed: UInt64 = 0
    /// The slow calls are also among the succeeded and the failed.
    var slow: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0

    func subtracting(_ other: CellTotals) -> CellTotals {
        CellTotals(
            succeeded: self.succeeded &- other.succeeded, failed: self.failed &- other.failed,
            slow: self.slow &- other.slow, ignored: self.ignored &- other.ignored,
            refused: self.refused &- other.refused)
    }

    /// The sum of all five, which changes with each counted call.
    var sum: UInt64 { self.succeeded &+ self.failed &+ self.slow &+ self.ignored &+ self.refused }
}
