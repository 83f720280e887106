#if PostgreSQL
import BreakerStore

/// What the server has of this host's failures and sums, as far as this link has told it.
struct FailureMirror {
    struct Changes {
        var new: [Registers.Failure] = []
        var gone: [Registers.Gone] = []
        var sums: [Registers.Sums] = []
        /// The circuits of which there is something new.
        var names: Names = []
    }

    private var failures = ByName<Set<LinkedCircuit.Key>>()
    private var sums = ByName<Registers.Sums>()

    /// What the server lacks, and what it has too much.
    ///
    /// - Parameter isBeat: sums change with each call; they go up with the heartbeat alone.
    func changes(in files: [LinkedCircuit], isBeat: Bool) -> Changes {
        var changes = Changes()
        for file in files {
            let name = file.name
            let known = self.failures[name] ?? []
            let new = file.failures.filter { !known.contains($0.key) }
            let gone = known.isEmpty ? [] : known.subtracting(file.failures.map(\.key))
            changes.new += new.map { Registers.Failure(circuit: name, failure: $0) }
            changes.gone += gone.map { Registers.Gone(circuit: name, key: $0) }
            if !new.isEmpty { changes.names.insert(name) }
            let sums = Registers.Sums(circuit: name, failed: file.failed, slow: file.slow)
            let isOfUse = file.failed?.bad ?? 0 > 0 || file.slow?.bad ?? 0 > 0 || self.sums[name] != nil
            if isBeat, isOfUse, self.sums[name] != sums {
                changes.sums.append(sums)
                changes.names.insert(name)
            }
        }
        return changes
    }

    /// The server has the changes.
    mutating func apply(_ changes: Changes, of files: [LinkedCircuit]) {
        for file in files {
            let keys = Set(file.failures.map(\.key))
            self.failures[file.name] = keys.isEmpty ? nil : keys
        }
        for sums in changes.sums { self.sums[sums.circuit] = sums }
    }

    /// A register has opened: the server has forgotten the failures that led to it.
    mutating func forget(_ name: String) {
        self.failures[name] = nil
        self.sums[name] = nil
    }
}
#endif
