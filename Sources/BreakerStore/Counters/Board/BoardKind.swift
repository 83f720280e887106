/// The kind of the cells of a segment.
enum BoardKind: UInt8, CaseIterable, Sendable {
    /// A circuit's totals.
    case totals = 1
    /// A circuit's durations by buckets.
    case durations = 2
    /// The window of one rule of a circuit, for one length of tick.
    case ring = 3
    /// A degraded worker; see `Board.Degraded`.
    case degradedWorker = 4
    /// The workers that had bad calls within the window of a ring.
    case reporters = 5
    /// The workers that answer questions about failure rates; earlier releases skip this kind.
    case seats = 6
    /// The text of a circuit's last failure, under a failure-rate rule.
    case lastError = 7

    /// The size of a cell in words of 8 bytes; a circuit's cell begins with its key.
    var words: Int {
        switch self {
        case .totals: TotalsCell.words
        case .durations: DurationBuckets.words
        case .ring: CellKey.words + Ring.words
        case .degradedWorker: 8
        case .reporters: CellKey.words + ReporterCells.words
        case .seats: SeatTable.wordsOfACell
        case .lastError: ErrorCell.words
        }
    }

    /// How many cells the first segment of this kind has.
    ///
    /// With n cells in the first, the segments have n, n, 2n, 2n, 4n, 4n … cells, up to `maxCapacity`: so growing adds
    /// at most as much as there is. If each segment doubled, up to three quarters of a board could be unused.
    var firstCapacity: Int {
        switch self {
        case .totals: 256
        case .durations, .ring, .reporters, .lastError: 32
        case .degradedWorker: 1_024
        // One cell for all workers, and 128 seats.
        case .seats: 256
        }
    }

    /// The most cells of a segment; the table of segments still has room for millions of circuits.
    var maxCapacity: Int { self == .seats ? self.firstCapacity : 1 << 16 }

    /// The fewest cells of a segment: all seats lie in one.
    var minCapacity: Int { self == .seats ? self.firstCapacity : 1 }

    /// Whether the cells belong to circuits, and become free when their circuits are forgotten.
    var isOfCircuits: Bool {
        switch self {
        case .totals, .durations, .ring, .reporters, .lastError: true
        case .degradedWorker, .seats: false
        }
    }
}

/// The first two words of a circuit's cell, by which the cell is found.
struct CellKey: Equatable, Sendable {
    static let words = 2
    private static let slow: UInt64 = 1 << 62

    /// The circuit's incarnation; with bit 62 set for the cells of the slow-call rule.
    ///
    /// Incarnations are smaller than that bit.
    let first: UInt64
    /// The id of the circuit's row for totals and durations; the length of a tick for the cells of a window.
    ///
    /// A new length needs new cells.
    let second: UInt64

    /// The key of a circuit's totals and durations.
    init(incarnation: Int64, id: Int64) {
        self.first = UInt64(bitPattern: incarnation)
        self.second = UInt64(bitPattern: id)
    }

    /// The key of the cells for a rule's window.
    init(incarnation: Int64, _ subject: WindowSubject, _ ticks: WindowTicks) {
        self.first = UInt64(bitPattern: incarnation) | (subject == .slow ? Self.slow : 0)
        self.second = UInt64(bitPattern: ticks.length)
    }

    init(of cell: SharedWords) {
        self.first = cell[0]
        self.second = cell[1]
    }

    /// Where the search for the key begins.
    ///
    /// Both words are hashed, so that a circuit's two rings lie apart.
    var hash: UInt64 { BoardSegment.mix(self.first &+ self.second &* 0x9E37_79B9_7F4A_7C15) }

    var incarnation: Int64 { Int64(bitPattern: self.first & ~Self.slow) }
    var id: Int64 { Int64(bitPattern: self.second) }
}
