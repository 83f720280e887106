import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// How many circuits are in each state.
struct StateCounts {
    private var counts = Array(repeating: 0, count: Standing.urgencies)

    static let calm = "all closed"

    /// Adds circuits.
    ///
    /// - Parameter urgency: the urgency of their standing.
    mutating func add(_ urgency: UInt8, _ count: Int = 1) { self.counts[Int(urgency)] += count }

    var total: Int { self.counts.reduce(0, +) }

    var closed: Int { self[.closed] }

    private subscript(word: StateWord) -> Int { self.counts[Int(word.urgency)] }

    /// The circuits that are not closed, in words, such as `2 open, 1 held`.
    var text: String {
        let held = self[.heldOpen] + self[.heldClosed]
        let due = self.counts[Int(Standing.urgencyOfDue)]
        let observing = self.counts[Int(Standing.urgencyOfObserving)]
        let parts = [
            (self[.open], "open"), (self[.halfOpen], "half-open"), (due, Standing.due), (held, "held"),
            (observing, "observing would refuse"),
        ].filter { $0.0 > 0 }
        return parts.isEmpty ? Self.calm : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// All circuits in words, such as `41 circuits: 9 open`.
    var sum: String {
        let count = self.total.counted("circuit")
        return self.total > 0 ? "\(count): \(self.text)" : count
    }
}
