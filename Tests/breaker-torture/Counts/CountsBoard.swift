/// A store's board as a stranger reads it who knows `docs/store-format.md` alone.
struct CountsBoard {
    /// What has been counted of one circuit, and the uptimes of the looks at its windows.
    struct Cell {
        var totals = [UInt64](repeating: 0, count: 8)

        var succeeded: Int64 { Int64(clamping: self.totals[1]) }
        var failed: Int64 { Int64(clamping: self.totals[2] &+ self.totals[6]) }
        var slow: Int64 { Int64(clamping: self.totals[3] &+ self.totals[7]) }
        var ignored: Int64 { Int64(clamping: self.totals[4]) }
        var refused: Int64 { Int64(clamping: self.totals[5]) }
    }

    private let bytes: [UInt8]

    /// Nil if there is no board.
    init?(of store: String) {
        guard let bytes = FileBytes.read(store + "-board"), bytes.count >= 4_096 else { return nil }
        self.bytes = bytes
    }

    /// The births of circuits, by their names.
    static func births(in store: String) -> [String: UInt64] {
        var births: [String: UInt64] = [:]
        for row in SQLiteFile(store).rows("SELECT name, birth FROM circuit WHERE birth IS NOT NULL") ?? [] {
            let fields = row.split(separator: "|")
            if fields.count == 2, let birth = UInt64(fields[1]) { births[String(fields[0])] = birth }
        }
        return births
    }

    /// What has been counted of a circuit; zeros if nothing has.
    func cell(_ birth: UInt64?) -> Cell {
        guard let birth, let place = self.place(of: birth, kind: 1, size: 128) else { return Cell() }
        return Cell(totals: (0..<8).map { self.word(place / 8 + $0) })
    }

    /// The uptimes of the last looks at the window of failures.
    func looks(_ birth: UInt64) -> [Int64] {
        guard let place = self.place(of: birth, kind: 3, size: 1_024) else { return [] }
        return (0..<18).map { Int64(bitPattern: self.word(place / 8 + 6 + $0 * 5)) }.filter { $0 != 0 }
    }

    private func place(of key: UInt64, kind: UInt64, size: Int) -> Int? {
        for segment in 0..<min(Int(clamping: self.word(6)), 200) {
            let description = self.word(9 + segment * 2)
            guard description & 255 == kind else { continue }
            let start = Int(clamping: self.word(8 + segment * 2))
            for cell in 0..<Int(clamping: description >> 8) {
                let place = start + cell * size
                guard place + size <= self.bytes.count else { return nil }
                if self.word(place / 8) == key { return place }
            }
        }
        return nil
    }

    private func word(_ place: Int) -> UInt64 {
        guard (place + 1) * 8 <= self.bytes.count else { return 0 }
        return unsafe self.bytes.withUnsafeBytes { unsafe $0.load(fromByteOffset: place * 8, as: UInt64.self) }
    }
}
