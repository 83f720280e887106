import BreakerStore
import BreakerStoreJSON

/// How many circuits there are of each state.
struct Tally {
    private var counts = Array(repeating: 0, count: StateWord.allCases.count)

    static let calm = "all closed"

    mutating func add(_ word: StateWord, _ count: Int = 1) { self.counts[Int(word.urgency)] += count }

    var total: Int { self.counts.reduce(0, +) }

    private subscript(word: StateWord) -> Int { self.counts[Int(word.urgency)] }

    /// Those that are not closed, in words, such as `2 open, 1 held`.
    var text: String {
        let held = self[.heldOpen] + self[.heldClosed]
        let parts = [(self[.open], "open"), (self[.halfOpen], "half-open"), (held, "held")].filter { $0.0 > 0 }
        return parts.isEmpty ? Self.calm : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// All of them in words, such as `41 circuits: 9 open`.
    var sum: String {
        let count = self.total == 1 ? "1 circuit" : "\(self.total) circuits"
        return self.total > 0 ? "\(count): \(self.text)" : count
    }
}
