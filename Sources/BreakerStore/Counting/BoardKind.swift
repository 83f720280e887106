/// The kind of the cells of a segment.
enum BoardKind: UInt64, CaseIterable, Sendable {
    /// A circuit's totals.
    case block = 1
    /// A circuit's durations by buckets.
    case durations = 2
    /// The looks of one rule of a circuit.
    case ring = 3
    /// A worker that is degraded.
    case worker = 4

    /// The size of a cell, in words of 8 bytes.
    var words: Int {
        switch self {
        case .block: 16
        case .durations: 24
        case .ring: LookRing.words
        case .worker: 8
        }
    }

    /// How many cells the first segment of this kind has, a whole number of pages.
    ///
    /// Each further segment has twice as many as the one before, up to `mostCapacity`.
    var firstCapacity: Int {
        switch self {
        case .block, .durations: 64
        case .ring: 8
        // Fewer would leave room behind them: each segment begins at a multiple of 64 KiB.
        case .worker: 1_024
        }
    }

    /// No segment has more cells: it has 4 MiB at most.
    var mostCapacity: Int {
        switch self {
        case .block: 1 << 15
        case .durations: 1 << 14
        case .ring: 1 << 12
        case .worker: 1 << 16
        }
    }

    /// The key of the ring for the rule about slow calls: births are below 2^62.
    static func slowKey(_ birth: UInt64) -> UInt64 { birth | 1 << 62 }
}
