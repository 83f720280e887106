/// A segment of the board: a table of cells that are found by their keys.
struct BoardSegment: Sendable {
    /// How many places a key may be in.
    static let window = 16

    let layout: BoardHeader.Segment
    let mapping: BoardMapping

    /// The places of a key, in the order in which they are taken.
    static func places(of key: UInt64, capacity: Int) -> [Int] {
        let start = Int(truncatingIfNeeded: Self.mix(key)) & (capacity - 1)
        return (0..<Self.window).map { (start + $0) & (capacity - 1) }
    }

    /// SplitMix64's last steps: keys that lie near each other are spread.
    static func mix(_ key: UInt64) -> UInt64 {
        var value = (key ^ (key >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Finds a key's cell, or takes the first free one of its places; nil if all of them are others'.
    ///
    /// No place ever becomes free again, so all who look for a key come to the same cell.
    func cell(_ key: UInt64) -> SharedWords? {
        for place in Self.places(of: key, capacity: self.layout.capacity) {
            let cell = self.cell(at: place)
            // Another process may take a free cell just now, for this key or for another one.
            if cell[0] == key || cell.replace(0, with: key, at: 0) || cell[0] == key { return cell }
        }
        return nil
    }

    func cell(at place: Int) -> SharedWords {
        self.mapping.words(from: place * self.layout.kind.words)
    }
}
