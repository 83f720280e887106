/// The text of a circuit's last failure, of whichever worker has counted it: a worker that opens the circuit may have
/// seen no failure itself.
///
/// Any number of workers may write at once, and any of them may be killed meanwhile: the check of all words shows a
/// reader a mixed text, which the next failure replaces.
struct ErrorCell: Sendable {
    private enum Place {
        /// Behind the two words of the key.
        static let uptime = 2
        static let count = 3
        static let check = 4
        static let text = 5
    }

    static let words = 32
    private static let mostBytes = (Self.words - Place.text) * 8

    let words: SharedWords

    /// Writes a text, or as much of it as there is room for.
    ///
    /// - Parameter uptime: when the call failed.
    func write(_ text: String, at uptime: Int64) {
        var bytes = Array(text.utf8.prefix(Self.mostBytes))
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        var packed = [UInt64](repeating: 0, count: Self.words - Place.text)
        for (index, byte) in bytes.enumerated() { packed[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8) }
        self.words[Place.uptime] = UInt64(bitPattern: uptime)
        self.words[Place.count] = UInt64(bytes.count)
        for (index, word) in packed.enumerated() { self.words[Place.text + index] = word }
        self.words[Place.check] = Self.check(uptime, bytes.count, packed)
    }

    /// The text, and when the call failed; nil if there is none, or if a worker writes just now.
    var last: (text: String, uptime: Int64)? {
        let uptime = self.words.number(Place.uptime)
        guard let count = Int(exactly: self.words[Place.count]), (1...Self.mostBytes).contains(count) else {
            return nil
        }
        let packed = (Place.text..<Self.words).map { self.words[$0] }
        guard self.words[Place.check] == Self.check(uptime, count, packed) else { return nil }
        let bytes = (0..<count).map { (index: Int) -> UInt8 in
            UInt8(truncatingIfNeeded: packed[index / 8] >> UInt64(index % 8 * 8))
        }
        return String(validating: bytes, as: UTF8.self).map { ($0, uptime) }
    }

    private static func check(_ uptime: Int64, _ count: Int, _ packed: [UInt64]) -> UInt64 {
        packed.reduce(BoardSegment.mix(UInt64(bitPattern: uptime) &+ UInt64(count))) { BoardSegment.mix($0 ^ $1) &+ 1 }
    }
}
