/// A segment of the board: a hash table of cells, with linear probing over at most 16 indices.
struct BoardSegment: Sendable {
    /// How many indices a key may be at.
    static let indicesOfAKey = 16

    let kind: BoardKind
    let capacity: Int
    let mapping: BoardMapping

    /// The indices of a key, in the order in which they are probed.
    static func indices(of key: CellKey, capacity: Int) -> [Int] {
        let start = Int(truncatingIfNeeded: key.hash) & (capacity - 1)
        return (0..<min(Self.indicesOfAKey, capacity)).map { (start + $0) & (capacity - 1) }
    }

    /// The finalizer of SplitMix64, which spreads keys that lie near each other.
    static func mix(_ key: UInt64) -> UInt64 {
        var value = (key ^ (key >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// The cell of a key, if there is one.
    ///
    /// All indices are searched: a cell at an earlier index may have been freed since.
    func cell(_ key: CellKey) -> SharedWords? {
        for index in Self.indices(of: key, capacity: self.capacity) {
            let cell = self.cell(at: index)
            if cell[0] == key.first, cell[1] == key.second { return cell }
        }
        return nil
    }

    /// Allocates the first free cell of a key's indices; nil if other keys have all of them.
    ///
    /// Called only under the setup lock, so that no key ever has two cells.
    func allocate(_ key: CellKey) -> SharedWords? {
        for index in Self.indices(of: key, capacity: self.capacity) {
            let cell = self.cell(at: index)
            guard cell[0] == 0 else { continue }
            // A forgotten circuit may have left counts.
            for word in 2..<self.kind.words { cell[word] = 0 }
            cell[1] = key.second
            cell[0] = key.first
            return cell
        }
        return nil
    }

    /// Frees the cells of circuits that are not among these; returns how many cells were freed.
    ///
    /// Called only under the setup lock.
    func free(allBut incarnations: Set<Int64>) -> Int {
        var freed = 0
        for index in 0..<self.capacity {
            let cell = self.cell(at: index)
            guard cell[0] != 0, !incarnations.contains(CellKey(of: cell).incarnation) else { continue }
            cell[0] = 0
            freed += 1
        }
        return freed
    }

    func cell(at index: Int) -> SharedWords { self.mapping.words(from: index * self.kind.words) }
}
