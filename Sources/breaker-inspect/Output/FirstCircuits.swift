import BreakerStoreJSON

/// The first of very many circuits: few of the others are kept at any time.
///
/// Circuits that refuse calls come first; circuits of one urgency come by name.
struct FirstCircuits<Circuit> {
    private let most: Int
    private let key: (Circuit) -> (urgency: UInt8, name: String)
    private(set) var circuits: [Circuit] = []
    private(set) var leftOut = 0

    /// Begins without circuits.
    ///
    /// - Parameters:
    ///   - most: how many circuits are kept at the end.
    ///   - key: the urgency of a circuit's standing, and a name.
    init(_ most: Int, by key: @escaping (Circuit) -> (urgency: UInt8, name: String)) {
        self.most = most
        self.key = key
    }

    mutating func append(_ circuit: Circuit) {
        self.circuits.append(circuit)
        if self.circuits.count >= 2 * self.most + 1_000 { self.choose() }
    }

    /// Keeps the first circuits, in their order.
    mutating func choose() {
        let found = self.circuits.count
        let kept = RowOrder.sorted(found, by: self.comesBefore).prefix(self.most)
        self.circuits = kept.map { self.circuits[$0] }
        self.leftOut += found - kept.count
    }

    private func comesBefore(_ first: Int, _ second: Int) -> Bool {
        let (one, other) = (self.key(self.circuits[first]), self.key(self.circuits[second]))
        guard one.urgency == other.urgency else { return one.urgency < other.urgency }
        return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}
