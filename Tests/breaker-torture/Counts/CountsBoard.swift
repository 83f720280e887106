/// A store's board as a stranger reads it who knows `docs/store-format.md` alone.
struct CountsBoard {
    /// What has been counted of one circuit.
    struct Cell {
        var succeeded: Int64 = 0
        var failed: Int64 = 0
        var slow: Int64 = 0
        var ignored: Int64 = 0
        var refused: Int64 = 0
    }

    private let bytes: [UInt8]

    /// Nil if there is no board.
    init?(of store: String) {
        guard let bytes = FileBytes.read(store + "-board"), bytes.count >= 4_096 else { return nil }
        self.bytes = bytes
    }

    /// The incarnations of circuits, by their names.
    static func incarnations(in store: String) -> [String: UInt64] {
        var incarnations: [String: UInt64] = [:]
        for row in SQLiteFile(store).rows("SELECT name, incarnation FROM circuit WHERE incarnation IS NOT NULL") ?? [] {
            let fields = row.split(separator: "|")
            if fields.count == 2, let incarnation = UInt64(fields[1]) { incarnations[String(fields[0])] = incarnation }
        }
        return incarnations
    }

    /// What has been counted of a circuit; zeros if nothing has.
    func cell(_ incarnation: UInt64?) -> Cell {
        guard let incarnation, let place = self.place(of: incarnation) else { return Cell() }
        func count(_ word: Int) -> Int64 { Int64(clamping: self.word(place + word)) }
        return Cell(succeeded: count(2), failed: count(3), slow: count(4), ignored: count(5), refused: count(6))
    }

    /// The first word of a circuit's totals.
    private func place(of incarnation: UInt64) -> Int? {
        for segment in 0..<min(Int(clamping: self.word(6)), 200) {
            let description = self.word(9 + segment * 2)
            guard description & 255 == 1 else { continue }
            let (start, size) = (Int(clamping: self.word(8 + segment * 2)) / 8, Int(description >> 8 & 255))
            for cell in 0..<Int(clamping: description >> 16) where self.word(start + cell * size) == incarnation {
                return start + cell * size
            }
        }
        return nil
    }

    private func word(_ place: Int) -> UInt64 {
        guard (place + 1) * 8 <= self.bytes.count else { return 0 }
        return unsafe self.bytes.withUnsafeBytes { unsafe $0.load(fromByteOffset: place * 8, as: UInt64.self) }
    }
}
