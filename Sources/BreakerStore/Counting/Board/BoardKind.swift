/// The kind of the cells of a segment.
enum BoardKind: UInt8, CaseIterable, Sendable {
    /// A circuit's totals.
    case totals = 1
    /// A circuit's durations by buckets.
    case durations = 2
    /// The window of one rule of a circuit, for one length of tick.
    case ring = 3
    /// A worker that is degraded.
    case worker = 4
    /// The workers whose calls ended badly within such a window.
    case reporters = 5

    /// The size of a cell, in words of 8 bytes; those of circuits have a key in front.
    var words: Int {
        switch self {
        case .totals: TotalsCell.words
        case .durations: DurationBuckets.words
        case .ring: CellKey.words + Ring.words
        case .worker: 8
        case .reporters: CellKey.words + ReporterCells.words
        }
    }

    /// How many cells the first segment of this kind has.
    ///
    /// Two segments have the same size, then the next two twice as many cells each, up to `mostCapacity`: with segments
    /// that doubled each time, up to three quarters of a board would be room.
    var firstCapacity: Int {
        switch self {
        case .totals: 256
        case .durations, .ring, .reporters: 32
        case .worker: 1_024
        }
    }

    /// No segment has more cells; so the table of segments has room for millions of circuits.
    var mostCapacity: Int { 1 << 16 }
}

/// By which a circuit's cell is found: the first two words of the cell.
struct CellKey: Equatable, Sendable {
    static let words = 2
    private static let slow: UInt64 = 1 << 62

    /// The circuit's birth; with bit 62 where the cell is the slow rule's.
    ///
    /// Births are below that.
    let first: UInt64
    /// The circuit's row in the file; or the length of a tick, where there is a cell for each.
    let second: UInt64

    /// A circuit's totals and durations.
    init(birth: Int64, id: Int64) {
        self.first = UInt64(bitPattern: birth)
        self.second = UInt64(bitPattern: id)
    }

    /// What belongs to the window of a rule.
    init(birth: Int64, _ subject: WindowSubject, _ ticks: WindowTicks) {
        self.first = UInt64(bitPattern: birth) | (subject == .slow ? Self.slow : 0)
        self.second = UInt64(bitPattern: ticks.length)
    }

    init(of cell: SharedWords) {
        self.first = cell[0]
        self.second = cell[1]
    }

    /// Where the key is looked for: the rings of one circuit lie apart.
    var hash: UInt64 { BoardSegment.mix(self.first &+ self.second &* 0x9E37_79B9_7F4A_7C15) }

    var birth: Int64 { Int64(bitPattern: self.first & ~Self.slow) }
    var id: Int64 { Int64(bitPattern: self.second) }
}
