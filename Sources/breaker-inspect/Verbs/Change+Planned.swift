import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Change {
    /// The changes that a plan would make, gathered circuit by circuit: very many circuits take little memory.
    struct Planned {
        private var changes: [StateChange] = []
        private(set) var hasCircuits = false
        /// The first circuit by name that a live worker has registered.
        private var used: (name: String, workers: Int)?

        mutating func add(_ circuit: InspectedCircuit, _ plan: Plan) {
            self.hasCircuits = true
            let snapshot = circuit.snapshot
            self.note(snapshot.name, workers: snapshot.workers)
            guard let expected = plan.expected(circuit) else { return }
            self.changes.append(
                StateChange(
                    name: snapshot.name, from: snapshot.stateWord.rawValue, to: expected,
                    holdEnd: plan.holdEnd(circuit.now)))
        }

        private mutating func note(_ name: String, workers: Int) {
            guard workers > 0 else { return }
            if let used, used.name.utf8.lexicographicallyPrecedes(name.utf8) { return }
            self.used = (name, workers)
        }

        /// The failure for a circuit in use.
        ///
        /// The operator is not asked for nothing; the transaction checks again, and its check counts.
        func failure(_ unreadable: [UnreadableCircuit], _ plan: Plan) -> Failure? {
            var all = self
            if all.used == nil { for circuit in unreadable { all.note(circuit.name, workers: circuit.workers) } }
            guard let used = all.used else { return nil }
            let workers = used.workers == 1 ? "a live worker has" : "\(used.workers) live workers have"
            return .inUse("\(workers) \(used.name.quoted) registered", doing: plan.question)
        }

        /// The planned changes, by name.
        func changes(with unreadable: [UnreadableCircuit], _ plan: Plan, at now: Date) -> [StateChange] {
            var changes = self.changes
            if let expected = plan.expectedOfUnreadable {
                changes += unreadable.filter(plan.takes).map {
                    StateChange(name: $0.name, from: StateChange.unreadable, to: expected, holdEnd: plan.holdEnd(now))
                }
            }
            return changes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }
}

extension Change.Plan {
    /// Whether the plan covers a circuit whose row can't be read.
    ///
    /// A name that is no UTF-8 can't be given back to SQLite: such a row can only be deleted.
    func takes(_ circuit: UnreadableCircuit) -> Bool {
        self.expectedOfUnreadable == StateChange.forgotten
            || self.expectedOfUnreadable != nil && !circuit.name.unicodeScalars.contains("\u{FFFD}")
    }
}
