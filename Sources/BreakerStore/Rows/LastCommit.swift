/// What the last commit of this process left in the file.
///
/// It is still true while the header of the wal-index is the one that this commit made: each commit, of any process,
/// makes another header. The header is compared under the write lock.
struct LastCommit {
    struct Circuit {
        var row: CircuitRow
        /// How many failures count; nil if nobody has counted.
        var failures: FailureRows.Counted?
    }

    let tag: Tag
    let clock: ClockRow
    private(set) var circuits: [CircuitName: Circuit]

    /// More circuits than these are read again: a process may have any number of them.
    private static let mostCircuits = 64

    /// - Parameters:
    ///   - circuits: those that the commit was about; nil for one that is to be read again.
    ///   - before: what was known when its transaction began; that is still true of all other circuits.
    init(tag: Tag, clock: ClockRow, circuits: [CircuitName: Circuit?], after before: LastCommit?) {
        self.tag = tag
        self.clock = clock
        self.circuits = before?.circuits ?? [:]
        if self.circuits.count + circuits.count > Self.mostCircuits { self.circuits.removeAll() }
        for (name, circuit) in circuits { self.circuits[name] = circuit }
    }
}
