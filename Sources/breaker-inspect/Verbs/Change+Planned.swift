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
        /// The circuit, if there is only one.
        private(set) var only: InspectedCircuit?
        /// The holds of other operators that the changes would end.
        private(set) var holds: OtherHolds
        /// The first circuit by name that a live worker has registered.
        private var used: (name: String, workers: Int)?

        init(by who: String) { self.holds = OtherHolds(than: who) }

        mutating func add(_ circuit: InspectedCircuit, _ plan: Plan) {
            self.only = self.hasCircuits ? nil : circuit
            self.hasCircuits = true
            let snapshot = circuit.snapshot
            self.setUsed(snapshot.name, workers: snapshot.workers)
            if plan.endsHolds != nil { self.holds.add(circuit) }
            guard let expected = plan.expected(circuit) else { return }
            self.changes.append(
                StateChange(
                    name: snapshot.name, from: snapshot.stateWord.rawValue, to: expected,
                    holdEnd: plan.holdEnd(circuit.now)))
        }

        /// Records a circuit that living workers have registered, if it is the first one by name.
        private mutating func setUsed(_ name: String, workers: Int) {
            guard workers > 0 else { return }
            if let used, used.name.utf8.lexicographicallyPrecedes(name.utf8) { return }
            self.used = (name, workers)
        }

        /// The failure for a circuit in use.
        ///
        /// Checked first, so that the operator is not asked in this case; the transaction's own check decides.
        func failure(_ unreadable: [UnreadableCircuit], _ plan: Plan) -> Failure? {
            var all = self
            if all.used == nil { for circuit in unreadable { all.setUsed(circuit.name, workers: circuit.workers) } }
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
    /// If its name is not UTF-8, no statement can search for it: such a row can only be deleted.
    func takes(_ circuit: UnreadableCircuit) -> Bool {
        self.expectedOfUnreadable == StateChange.forgotten
            || self.expectedOfUnreadable != nil && !circuit.name.unicodeScalars.contains("\u{FFFD}")
    }
}
