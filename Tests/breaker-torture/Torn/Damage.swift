/// What happens to the bytes of one file of a store.
struct Damage: CustomStringConvertible {
    enum File: String, CaseIterable {
        case database = "a.db"
        case log = "a.db-wal"
        case index = "a.db-shm"
        case board = "a.db-board"
    }

    enum How {
        case cut(at: Int)
        case flip(bit: Int)
        /// Some bytes in a row become others, that follow from a seed.
        case burst(at: Int, count: Int, seed: UInt64)
        case zero(at: Int, count: Int)
    }

    let file: File
    let how: How

    func apply(to bytes: inout [UInt8]) {
        switch self.how {
        case .cut(let place): bytes.removeLast(max(0, bytes.count - place))
        case .flip(let bit): bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        case .burst(let place, let count, let seed):
            var random = SeededRandom(seed: seed)
            for place in place..<min(bytes.count, place + count) {
                bytes[place] ^= UInt8.random(in: 1 ... .max, using: &random)
            }
        case .zero(let place, let count):
            for place in place..<min(bytes.count, place + count) { bytes[place] = 0 }
        }
    }

    var description: String {
        switch self.how {
        case .cut(let place): "\(self.file.rawValue) cut to \(place) bytes"
        case .flip(let bit): "\(self.file.rawValue) with bit \(bit % 8) of byte \(bit / 8) flipped"
        case .burst(let place, let count, _): "\(self.file.rawValue) with \(count) other bytes at \(place)"
        case .zero(let place, let count): "\(self.file.rawValue) with \(count) zeros at \(place)"
        }
    }

    /// What is counted in the report.
    var kind: String {
        switch self.how {
        case .cut: "cuts"
        case .flip: "flips"
        case .burst: "bursts"
        case .zero: "sectors"
        }
    }
}
