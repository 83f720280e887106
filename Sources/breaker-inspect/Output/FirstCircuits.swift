import BreakerStoreJSON

/// The first of very many circuits (a partial sort): only a few of the others are in memory at any time.
///
/// Circuits that refuse calls come first; circuits of one urgency come by name.
struct FirstCircuits<Circuit> {
    private let maxCount: Int
    private let key: (Circuit) -> (urgency: UInt8, name: String)
    private(set) var circuits: [Circuit] = []
    private(set) var leftOut = 0

    /// Begins without circuits.
    ///
    /// - Parameters:
    ///   - maxCount: how many circuits remain at the end.
    ///   - key: the urgency of a circuit's standing, and a name.
    init(_ maxCount: Int, by key: @escaping (Circuit) -> (urgency: UInt8, name: String)) {
        self.maxCount = maxCount
        self.key = key
    }

    mutating func append(_ circuit: Circuit) {
        self.circuits.append(circuit)
        if self.circuits.count >= 2 * self.maxCount + 1_000 { self.choose() }
    }

    /// Keeps the first circuits, in their order.
    mutating func choose() {
        let found = self.circuits.count
        let first = RowOrder.sorted(found, by: self.comesBefore).prefix(self.maxCount)
        self.circuits = first.map { self.circuits[$0] }
        self.leftOut += found - first.count
    }

    private func comesBefore(_ first: Int, _ second: Int) -> Bool {
        let (one, other) = (self.key(self.circuits[first]), self.key(self.circuits[second]))
        guard one.urgency == other.urgency else { return one.urgency < other.urgency }
        return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}
