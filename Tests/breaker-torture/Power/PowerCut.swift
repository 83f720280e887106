/// What becomes of all that had not been synced when the power went.
struct PowerCut: CustomStringConvertible {
    enum Data: CaseIterable {
        case everything, nothing
        /// What was written before one of the changes; what was written since then.
        case first, last
        /// Each write by itself; each sector by itself; all, but for one write that is torn.
        case someWrites, someSectors, oneTorn
    }

    enum Names: CaseIterable {
        /// In order: where a change is there, all before it are; a sync of any file brings those before it.
        case ordered
        /// Each by itself, until the directory is synced.
        case loose
    }

    /// What is left of the wal-index, which is never synced.
    enum Index: CaseIterable {
        case gone, empty, zeros, noise
    }

    let data: Data
    let names: Names
    let index: Index
    private let limit: Int
    private let share: Double
    private var random: SeededRandom
    private var fates: [Fate] = []

    private enum Fate {
        case kept, lost, torn
    }

    /// - Parameters:
    ///   - numbers: the records among which one is the first, or the last, that is kept.
    ///   - isLoose: whether names may be there without those before them.
    init(seed: UInt64, numbers: Range<Int>, isLoose: Bool) {
        var random = SeededRandom(seed: seed)
        self.data = Data.allCases.randomElement(using: &random) ?? .nothing
        self.names = isLoose && Bool.random(using: &random) ? .loose : .ordered
        let isIndexLeft = Int.random(in: 0..<4, using: &random) == 0
        self.index = isIndexLeft ? Index.allCases.randomElement(using: &random) ?? .gone : .gone
        // Rather near the cut: most of what lies before it has been synced.
        let back = Int.random(
            in: 0...max(0, min(numbers.count, 1 << Int.random(in: 0...9, using: &random))), using: &random)
        self.limit = numbers.upperBound - back
        self.share = [0.1, 0.5, 0.9].randomElement(using: &random) ?? 0.5
        self.random = random
    }

    var description: String {
        let limit = self.data == .first || self.data == .last ? " \(self.limit)" : ""
        return "\(self.data)\(limit), names \(self.names), index \(self.index)"
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self.random) < share }

    // MARK: - Data

    /// The next file, with the numbers of the records that changed it.
    mutating func begin(_ numbers: [Int]) {
        let torn = numbers.indices.randomElement(using: &self.random)
        self.fates = []
        for (place, number) in numbers.enumerated() {
            switch self.data {
            case .everything: self.fates.append(.kept)
            case .nothing: self.fates.append(.lost)
            case .first: self.fates.append(number < self.limit ? .kept : .lost)
            case .last: self.fates.append(number < self.limit ? .lost : .kept)
            case .someWrites: self.fates.append(self.chance(self.share) ? .kept : .lost)
            case .someSectors: self.fates.append(.torn)
            case .oneTorn: self.fates.append(place == torn ? .torn : .kept)
            }
        }
    }

    /// Whether a sector of a write is there.
    mutating func keeps(_ place: Int, _ sector: Int, of sectors: ClosedRange<Int>) -> Bool {
        switch self.fates[place] {
        case .kept: true
        case .lost: false
        case .torn: self.chance(self.share)
        }
    }

    /// How many of a file's changes of size are there.
    mutating func sizesKept(of numbers: [Int]) -> Int {
        switch self.data {
        case .everything: numbers.count
        case .first: numbers.count { $0 < self.limit }
        // The size may be there before what it reaches.
        case .nothing: self.chance(0.5) ? 0 : Int.random(in: 0...numbers.count, using: &self.random)
        case .last, .someWrites, .someSectors, .oneTorn:
            self.chance(0.7) ? numbers.count : Int.random(in: 0...numbers.count, using: &self.random)
        }
    }

    // MARK: - Names

    /// Which of some changes of names are there.
    ///
    /// - Parameter certain: so many of the first are, where there is an order.
    mutating func namesKept(of numbers: [Int], certain: Int) -> [Bool] {
        switch self.names {
        case .loose: return numbers.map { _ in self.chance(0.5) }
        case .ordered:
            let kept: Int
            switch self.data {
            case .everything: kept = numbers.count
            case .nothing: kept = certain
            case .first: kept = max(certain, numbers.count { $0 < self.limit })
            case .last, .someWrites, .someSectors, .oneTorn:
                kept = Int.random(in: certain...max(certain, numbers.count), using: &self.random)
            }
            return numbers.indices.map { $0 < kept }
        }
    }

    // MARK: - The wal-index

    /// Nil where there is none.
    mutating func indexLeft() -> [UInt8]? {
        switch self.index {
        case .gone: nil
        case .empty: []
        case .zeros: [UInt8](repeating: 0, count: 32_768)
        case .noise: (0..<32_768).map { _ in UInt8.random(in: 0...255, using: &self.random) }
        }
    }
}
