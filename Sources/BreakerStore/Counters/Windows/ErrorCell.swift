/// The text of a circuit's last failure, written by the worker that counted the failure, for all workers.
///
/// A worker that opens the circuit may have seen no failure itself.
///
/// Several workers may write at once, and any of them may be killed while it writes. By a checksum of all words a
/// reader detects a mixed text, which the next failure replaces.
struct ErrorCell: Sendable {
    private enum Index {
        /// Behind the two words of the key.
        static let uptime = 2
        static let count = 3
        static let checksum = 4
        static let text = 5
    }

    static let words = 32
    private static let maxBytes = (Self.words - Index.text) * 8

    let words: SharedWords

    /// Writes a text, cut to the room of the cell.
    ///
    /// - Parameter uptime: when the call failed.
    func write(_ text: String, at uptime: Uptime) {
        var bytes = Array(text.utf8.prefix(Self.maxBytes))
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        var packed = [UInt64](repeating: 0, count: Self.words - Index.text)
        for (index, byte) in bytes.enumerated() { packed[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8) }
        self.words[Index.uptime] = UInt64(bitPattern: uptime.microseconds)
        self.words[Index.count] = UInt64(bytes.count)
        for (index, word) in packed.enumerated() { self.words[Index.text + index] = word }
        self.words[Index.checksum] = Self.checksum(uptime, bytes.count, packed)
    }

    /// The text, and when the call failed; nil if there is none, or if a worker is writing now.
    var last: (text: String, uptime: Uptime)? {
        let uptime = Uptime(microseconds: self.words.number(Index.uptime))
        guard let count = Int(exactly: self.words[Index.count]), (1...Self.maxBytes).contains(count) else {
            return nil
        }
        let packed = (Index.text..<Self.words).map { self.words[$0] }
        guard self.words[Index.checksum] == Self.checksum(uptime, count, packed) else { return nil }
        let bytes = (0..<count).map { (index: Int) -> UInt8 in
            UInt8(truncatingIfNeeded: packed[index / 8] >> UInt64(index % 8 * 8))
        }
        return String(validating: bytes, as: UTF8.self).map { ($0, uptime) }
    }

    private static func checksum(_ uptime: Uptime, _ count: Int, _ packed: [UInt64]) -> UInt64 {
        packed.reduce(BoardSegment.mix(UInt64(bitPattern: uptime.microseconds) &+ UInt64(count))) {
            BoardSegment.mix($0 ^ $1) &+ 1
        }
    }
}
