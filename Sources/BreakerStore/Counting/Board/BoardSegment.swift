/// A segment of the board: a table of cells that are found by their keys.
struct BoardSegment: Sendable {
    /// In how many places a key may be.
    static let placesOfAKey = 16

    let kind: BoardKind
    let capacity: Int
    let mapping: BoardMapping

    /// The places of a key, in the order in which they are taken.
    static func places(of key: CellKey, capacity: Int) -> [Int] {
        let start = Int(truncatingIfNeeded: key.hash) & (capacity - 1)
        return (0..<min(Self.placesOfAKey, capacity)).map { (start + $0) & (capacity - 1) }
    }

    /// The last steps of SplitMix64, which spread keys that lie near each other.
    static func mix(_ key: UInt64) -> UInt64 {
        var value = (key ^ (key >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// The cell of a key, if there is one.
    ///
    /// All places are searched: a place before the cell may have become free since.
    func cell(_ key: CellKey) -> SharedWords? {
        for place in Self.places(of: key, capacity: self.capacity) {
            let cell = self.cell(at: place)
            if cell[0] == key.first, cell[1] == key.second { return cell }
        }
        return nil
    }

    /// Takes the first free place of a key; nil if other keys have all of them.
    ///
    /// Called only under byte 0 of the lock file, so that no key ever has two cells.
    func take(_ key: CellKey) -> SharedWords? {
        for place in Self.places(of: key, capacity: self.capacity) {
            let cell = self.cell(at: place)
            guard cell[0] == 0 else { continue }
            // A forgotten circuit may have left numbers.
            for word in 2..<self.kind.words { cell[word] = 0 }
            cell[1] = key.second
            cell[0] = key.first
            return cell
        }
        return nil
    }

    /// Frees the cells of circuits that are not among these; returns how many.
    ///
    /// Called only under byte 0 of the lock file.
    func free(allBut incarnations: Set<Int64>) -> Int {
        var freed = 0
        for place in 0..<self.capacity {
            let cell = self.cell(at: place)
            guard cell[0] != 0, !incarnations.contains(CellKey(of: cell).incarnation) else { continue }
            cell[0] = 0
            freed += 1
        }
        return freed
    }

    func cell(at place: Int) -> SharedWords { self.mapping.words(from: place * self.kind.words) }
}
