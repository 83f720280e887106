/// A count of a circuit's failures that stands in the circuit's row, so that a process does not count them all again
/// after each commit of another one.
///
/// Failures that were written after the mark are counted. Whoever deletes some of those before the mark writes another
/// mark, or none.
struct FailureMark: Equatable {
    /// How many failures are not older than `since` and not newer than `to`.
    var count: Int64
    /// Nil where that is all up to `to`.
    var since: Int64?
    var to: Int64
    /// The number of the clock's row with which the mark is true.
    var counting: Int64
}

extension FailureMark {
    /// Nil where there is none, or one that no version of this library can have written.
    init?(_ columns: any ColumnSource) {
        guard let count = columns.typedInteger(.failures), count >= 0, let to = columns.typedInteger(.failuresTo),
            let counting = columns.typedInteger(.counting)
        else { return nil }
        let since = columns.typedInteger(.failuresSince)
        if let since, since > to { return nil }
        self.init(count: count, since: since, to: to, counting: counting)
    }
}
