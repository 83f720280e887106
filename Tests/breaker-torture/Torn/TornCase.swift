/// One store with one damage.
struct TornCase: CustomStringConvertible, Sendable {
    let store: StoreBytes
    let damage: Damage
    /// Whether a process has the store open meanwhile.
    let isLive: Bool

    var description: String { "store \(self.store.name), \(self.damage)\(self.isLive ? " while it is open" : "")" }
    var kind: String { self.isLive ? "\(self.damage.kind) while open" : self.damage.kind }

    /// Random places of each kind.
    private static let random = 500
    private static let pageSize = 4_096
    private static let sectorSize = 512
    /// https://sqlite.org/fileformat2.html#the_write_ahead_log: both headers.
    private static let logHeader = 32
    private static let frameHeader = 24
    private static let databaseHeader = 100

    static func all(of stores: [StoreBytes], _ random: inout SeededRandom) -> [TornCase] {
        var cases: [TornCase] = []
        for store in stores {
            for file in Damage.File.allCases {
                guard let bytes = store.files[file], !bytes.isEmpty else { continue }
                let places = Places(bytes)
                var ways = Self.cuts(of: file, bytes.count, &random)
                ways += Self.headerBits(of: file)
                ways += (0..<Self.random).map { _ in
                    .flip(bit: places.any(&random) * 8 + Int.random(in: 0..<8, using: &random))
                }
                ways += (0..<Self.random).map { _ in Self.burst(places, &random) }
                for size in [Self.sectorSize, Self.pageSize] {
                    ways += stride(from: 0, to: bytes.count, by: size)
                        .filter { places.isUsed($0..<$0 + size) }.map { .zero(at: $0, count: size) }
                }
                cases += ways.map { TornCase(store: store, damage: Damage(file: file, how: $0), isLive: false) }
                let live: [Damage.How] =
                    (0..<Self.random / 4).map { _ in
                        .flip(bit: places.any(&random) * 8 + Int.random(in: 0..<8, using: &random))
                    }
                    + (0..<Self.random / 4).map { _ in Self.burst(places, &random) }
                    + (0..<Self.random / 4).map { _ in
                        let size = Bool.random(using: &random) ? Self.sectorSize : Self.pageSize
                        return .zero(at: places.any(&random) / size * size, count: size)
                    } + Self.cutsOfOpenFile(file, bytes.count, &random)
                    + [.zero(at: 0, count: bytes.count), .burst(at: 0, count: bytes.count, seed: random.next())]
                cases += live.map { TornCase(store: store, damage: Damage(file: file, how: $0), isLive: true) }
            }
        }
        return cases
    }

    /// A few of each kind and file.
    static func some(of cases: [TornCase], _ random: inout SeededRandom) -> [TornCase] {
        let groups = Dictionary(grouping: cases.shuffled(using: &random)) { "\($0.kind) \($0.damage.file)" }
        return groups.sorted { $0.key < $1.key }.flatMap { $0.value.prefix($0.value[0].isLive ? 2 : 4) }
    }

    private static func cuts(of file: Damage.File, _ size: Int, _ random: inout SeededRandom) -> [Damage.How] {
        let edges: [Int] =
            switch file {
            case .database: Array(stride(from: 0, to: size, by: Self.pageSize))
            case .log: [0] + Array(stride(from: Self.logHeader, to: size, by: Self.pageSize + Self.frameHeader))
            case .index: [0, 1, 3, 48, 96, 136]
            case .board: Array(stride(from: 0, to: size, by: Self.pageSize))
            }
        let any = file == .index ? [] : (0..<Self.random).map { _ in Int.random(in: 1..<size, using: &random) }
        return (edges + any).map { .cut(at: $0) }
    }

    /// None of the index: SQLite has mapped it, and gets SIGBUS where it is cut.
    ///
    /// The library has mapped the board, and survives that.
    private static func cutsOfOpenFile(
        _ file: Damage.File,
        _ size: Int,
        _ random: inout SeededRandom
    ) -> [Damage.How] {
        switch file {
        case .database, .log, .board:
            (0..<Self.random / 4).map { _ in .cut(at: Int.random(in: 0..<size, using: &random)) }
        case .index: []
        }
    }

    /// Each bit of what a file begins with.
    private static func headerBits(of file: Damage.File) -> [Damage.How] {
        switch file {
        case .database: (0..<Self.databaseHeader * 8).map { .flip(bit: $0) }
        case .log: (0..<(Self.logHeader + Self.frameHeader) * 8).map { .flip(bit: $0) }
        case .index: []
        // The numbers of the board, and its first segments.
        case .board: (0..<128 * 8).map { .flip(bit: $0) }
        }
    }

    private static func burst(_ places: Places, _ random: inout SeededRandom) -> Damage.How {
        .burst(at: places.any(&random), count: Int.random(in: 2...64, using: &random), seed: random.next())
    }
}

/// Where in a file there is something: most of a store's pages are kept for a full disk.
private struct Places {
    private let used: [Int]
    private let size: Int
    private static let block = 64

    init(_ bytes: [UInt8]) {
        self.size = bytes.count
        self.used = stride(from: 0, to: bytes.count, by: Self.block).filter { start in
            bytes[start..<min(bytes.count, start + Self.block)].contains { $0 != 0 }
        }
    }

    /// Three of four where there is something.
    func any(_ random: inout SeededRandom) -> Int {
        guard Int.random(in: 0..<4, using: &random) > 0, let block = self.used.randomElement(using: &random) else {
            return Int.random(in: 0..<self.size, using: &random)
        }
        return min(self.size - 1, block + Int.random(in: 0..<Self.block, using: &random))
    }

    func isUsed(_ range: Range<Int>) -> Bool {
        // The first at or behind the beginning.
        var low = 0
        var high = self.used.count
        while low < high {
            let middle = (low + high) / 2
            if self.used[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < self.used.count && self.used[low] < range.upperBound
    }
}
