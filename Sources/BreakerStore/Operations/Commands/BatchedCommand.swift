#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An operator's command on the circuits that existed when it began, in transactions between which others can write.
///
/// Up to 1,000 circuits are changed in one transaction: all of them or none. More circuits are changed by several
/// transactions, so that no service waits for the write lock for longer than its `busyTimeout`.
package struct BatchedCommand {
    /// What a transaction has changed about one circuit.
    struct Made: Sendable {
        var change: StateChange
        /// When the circuit's new hold ends; converted to a date after the commit.
        var holdEnd: StoreTime?
    }

    typealias Step = @Sendable (Database.Selected.Circuit, Transaction) throws(BreakerStoreError) -> Made?

    /// The most circuits that one transaction changes.
    package static let largestBatch = 1_000
    /// After this time, a fifth of the default `busyTimeout`, one transaction of several begins no further circuit.
    private static let longestBatch = Duration.milliseconds(50)
    /// The bounds of the pause between two transactions: a waiting writer tries the lock each millisecond.
    private static let pauses = Duration.milliseconds(10)...Duration.milliseconds(100)

    private let store: CircuitStore
    private let step: Step
    private var rest: ArraySlice<Database.Selected.Circuit>
    /// How long to wait before the next transaction.
    private var pause = Duration.zero
    /// How many circuits the command concerns.
    package let count: Int

    /// Finds the circuits; throws `noSuchCircuit` for a name that must be there, and as `usableCore` and `view` do.
    init(on selection: [CircuitSelector], in store: CircuitStore, _ step: @escaping Step) throws(BreakerStoreError) {
        let core = try store.usableCore()
        let selected: Database.Selected
        do throws(BreakerStoreError) {
            // A read and not a transaction: finding very many circuits takes long, and must keep no writer waiting.
            selected = try store.view { (view) throws(BreakerStoreError) in try view.database.select(selection) }
        } catch {
            // A transaction repairs a row that can't be read.
            guard error.isRowDamage else { throw error }
            selected = try core.commit(until: store.deadline) { (transaction) throws(BreakerStoreError) in
                try transaction.database.select(selection)
            }
        }
        if let missing = selected.missing.first { throw .noSuchCircuit(missing, store.backend.file.path) }
        self.store = store
        self.step = step
        self.count = selected.circuits.count
        self.rest = selected.circuits.sorted { $0.id < $1.id }[...]
    }

    /// How many circuits the committed transactions concerned, including those that needed no change.
    package var reached: Int { self.count - self.rest.count }

    /// Changes the next circuits in one transaction, and returns the changes; nil if no circuit is left.
    ///
    /// Before each transaction but the first it pauses, so that others can write. If it throws, this transaction has
    /// changed nothing. Commits on the calling thread, and waits at most for `busyTimeout`.
    package mutating func next() throws(BreakerStoreError) -> [StateChange]? {
        guard !self.rest.isEmpty else { return nil }
        let core = try self.store.usableCore()
        Deadline(after: self.pause).sleep()
        let start = ContinuousClock.now
        let circuits = self.rest.prefix(Self.largestBatch)
        let isWhole = self.count <= Self.largestBatch
        let (made, reached) = try core.commit(until: self.store.deadline) {
            [step] (transaction) throws(BreakerStoreError) in
            let end = Deadline(after: Self.longestBatch)
            var made: [Made] = []
            var reached = 0
            for circuit in circuits {
                if let change = try step(circuit, transaction) { made.append(change) }
                reached += 1
                if !isWhole, end.isOver { break }
            }
            return (made, reached)
        }
        self.rest = self.rest.dropFirst(reached)
        // Other writers get as much time as this transaction took.
        self.pause = min(max(.now - start, Self.pauses.lowerBound), Self.pauses.upperBound)
        let date = core.clock.dates()
        let changes = made.map { made in
            var change = made.change
            change.holdEnd = made.holdEnd.map(date)
            return change
        }
        core.circuits.drop(forgotten: changes.filter { $0.to == StateChange.forgotten }.map(\.name))
        return changes
    }
}
