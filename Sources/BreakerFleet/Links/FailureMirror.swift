#if PostgreSQL
import BreakerStore

/// A copy of this host's failures and sums at the server, as far as this link has pushed them.
struct FailureMirror {
    struct Changes {
        var new: [Registers.Failure] = []
        var gone: [Registers.Gone] = []
        var sums: [Registers.Sums] = []
        /// The circuits with new failures or sums.
        var names: Names = []
    }

    private var failures = ByName<Set<LinkedCircuit.Key>>()
    private var sums = ByName<Registers.Sums>()

    /// The rows that the server lacks, and those that it must delete.
    ///
    /// - Parameter isBeat: whether to include sums, which change with each call, so that only heartbeats send them.
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
            let isNeeded = file.failed?.bad ?? 0 > 0 || file.slow?.bad ?? 0 > 0 || self.sums[name] != nil
            if isBeat, isNeeded, self.sums[name] != sums {
                changes.sums.append(sums)
                changes.names.insert(name)
            }
        }
        return changes
    }

    /// Records that the server has the changes.
    mutating func apply(_ changes: Changes, of files: [LinkedCircuit]) {
        for file in files {
            let keys = Set(file.failures.map(\.key))
            self.failures[file.name] = keys.isEmpty ? nil : keys
        }
        for sums in changes.sums { self.sums[sums.circuit] = sums }
    }

    /// Forgets a circuit that has opened: the server has deleted its failures and sums.
    mutating func forget(_ name: String) {
        self.failures[name] = nil
        self.sums[name] = nil
    }
}
#endif
