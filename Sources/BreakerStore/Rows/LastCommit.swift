/// What the last commit of this process left in the file.
///
/// It is still true while the header of the wal-index is the one that this commit made: each commit, of any process,
/// makes another header.
///
/// One object from commit to commit, so that nothing is copied; used by the one who leads. A transaction that fails
/// makes it forget everything.
final class LastCommit {
    /// The header that the commit has made; nil if that is not known.
    private(set) var tag: Tag?
    private(set) var clock: ClockRow?
    private(set) var circuits = NameTable<LoadedCircuit>()

    /// More circuits than these are read again: a process may have any number of them.
    private static let mostCircuits = 64

    /// A transaction begins.
    ///
    /// - Parameter tag: the header, asked for under the write lock; nil if it proves nothing.
    func begin(under tag: Tag?) {
        if tag == nil || self.tag != tag { self.forget() }
    }

    func keep(_ circuit: LoadedCircuit) { self.circuits[circuit.name] = circuit }

    func forget(_ name: CircuitName) { self.circuits[name] = nil }

    func forget() {
        self.tag = nil
        self.clock = nil
        self.circuits.removeAll()
    }

    /// The transaction is committed.
    ///
    /// - Parameter tag: the header that the commit has made; nil if another commit may have followed.
    func committed(under tag: Tag?, _ clock: ClockRow) {
        guard let tag, self.circuits.count <= Self.mostCircuits else { return self.forget() }
        self.tag = tag
        self.clock = clock
    }
}
