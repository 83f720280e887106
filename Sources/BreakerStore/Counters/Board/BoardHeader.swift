import CBreakerStore

/// The first 4,096 bytes of a board: whose board it is, and where its segments are.
struct BoardHeader: Sendable {
    /// The boot and the database that a board belongs to.
    struct Owner: Equatable, Sendable {
        /// The boot whose uptime numbers the ticks: the fingerprint of the boot's id.
        var boot: UInt64
        /// The incarnation of the database's file.
        var incarnation: Int64

        init(bootID: String, incarnation: Int64) {
            var boot = Fingerprint()
            boot.add(bytesOf: bootID)
            self.boot = boot.value
            self.incarnation = incarnation
        }
    }

    /// Where cells of one kind are.
    ///
    /// A segment whose kind this release does not know is skipped.
    struct Segment: Equatable, Sendable {
        /// The kind as a number; this release may not know it.
        var rawKind: UInt8
        /// The size of a cell in words.
        var cellWords: Int
        var capacity: Int
        /// Where in the file the segment begins, in bytes.
        var offset: Int

        var kind: BoardKind? { BoardKind(rawValue: self.rawKind) }
        var size: Int { self.capacity * self.cellWords * 8 }
        var end: Int { self.offset + self.size }

        /// The two words of the header that describe the segment.
        var words: (UInt64, UInt64) {
            (UInt64(self.offset), UInt64(self.capacity) << 16 | UInt64(self.cellWords) << 8 | UInt64(self.rawKind))
        }

        fileprivate init(_ kind: BoardKind, capacity: Int, offset: Int) {
            self.rawKind = kind.rawValue
            self.cellWords = kind.words
            self.capacity = capacity
            self.offset = offset
        }

        /// Nil unless the words describe a table of cells that begins at `offset`.
        fileprivate init?(_ words: (UInt64, UInt64), at offset: Int) {
            self.rawKind = UInt8(truncatingIfNeeded: words.1)
            self.cellWords = Int(words.1 >> 8 & 0xFF)
            self.capacity = Int(truncatingIfNeeded: words.1 >> 16 & 0xFF_FFFF)
            self.offset = offset
            guard words.0 == UInt64(offset), words.1 >> 40 == 0, self.cellWords > 0, self.capacity > 0,
                self.capacity & (self.capacity - 1) == 0
            else { return nil }
            guard let kind else { return }
            // No worker makes a larger segment, and a search through it would take long.
            guard kind.words == self.cellWords, (kind.minCapacity...kind.maxCapacity).contains(self.capacity) else {
                return nil
            }
        }
    }

    enum Index {
        static let magic = 0
        static let version = 1
        static let boot = 2
        static let incarnation = 3
        static let number = 4
        /// The checksum of the words from the version to the number.
        static let checksum = 5
        /// How many segments there are.
        static let count = 6
        /// The uptime at which a worker last acquired the turn to save the counts of the board.
        static let savedAt = 7
        static let segments = 8
    }

    static let size = 4_096
    static let words = Self.size / 8
    /// Two words each.
    static let maxSegments = (Self.words - Index.segments) / 2
    /// "BrkBoard", as the file's bytes have it on any machine.
    private static let magic = "BrkBoard".utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    private static let version: UInt64 = 2
    /// Each segment begins at a multiple of this, so that it can be mapped: no supported system has pages larger than
    /// 64 KiB.
    static let alignment = 1 << 16

    let owner: Owner
    /// The board's random number, drawn when the board was created.
    let number: UInt64
    var segments: [Segment] = []

    /// Reads the words; nil if they are not a board's header, or if a segment would end beyond the file.
    init?(_ words: [UInt64], fileSize: Int) {
        guard words.count == Self.words, words[Index.magic] == Self.magic.littleEndian,
            words[Index.version] == Self.version, words[Index.checksum] == Self.checksum(of: words),
            words[Index.count] <= Self.maxSegments
        else { return nil }
        self.owner = Owner(boot: words[Index.boot], incarnation: Int64(bitPattern: words[Index.incarnation]))
        self.number = words[Index.number]
        for index in 0..<Int(words[Index.count]) {
            let position = Index.segments + index * 2
            guard let segment = Segment((words[position], words[position + 1]), at: Self.fileSize(of: self.segments)),
                segment.end <= fileSize
            else { return nil }
            self.segments.append(segment)
        }
    }

    private static func checksum(of words: [UInt64]) -> UInt64 {
        bs_check(words[Index.version], words[Index.boot], words[Index.incarnation], words[Index.number])
    }

    /// The header of a new board, with a segment of each kind.
    init(owner: Owner, number: UInt64, kinds: [BoardKind]) {
        self.owner = owner
        self.number = number
        for kind in kinds {
            guard let segment = self.nextSegment(kind) else { continue }
            self.segments.append(segment)
        }
    }

    /// The segment by which the board grows next; nil if the table of segments is full.
    func nextSegment(_ kind: BoardKind) -> Segment? {
        guard self.segments.count < Self.maxSegments else { return nil }
        let count = self.segments.count { $0.kind == kind }
        let capacity = min(kind.firstCapacity << min(count / 2, 16), kind.maxCapacity)
        return Segment(kind, capacity: capacity, offset: self.fileSize)
    }

    /// The size of the file, rounded up to the alignment.
    var fileSize: Int { Self.fileSize(of: self.segments) }

    private static func fileSize(of segments: [Segment]) -> Int {
        let end = segments.last?.end ?? Self.size
        return (end + Self.alignment - 1) / Self.alignment * Self.alignment
    }

    /// The words of the header, as they are in memory.
    var encoded: [UInt64] {
        var words = [UInt64](repeating: 0, count: Self.words)
        words[Index.magic] = Self.magic.littleEndian
        words[Index.version] = Self.version
        words[Index.boot] = self.owner.boot
        words[Index.incarnation] = UInt64(bitPattern: self.owner.incarnation)
        words[Index.number] = self.number
        words[Index.checksum] = Self.checksum(of: words)
        words[Index.count] = UInt64(self.segments.count)
        for (index, segment) in self.segments.enumerated() {
            (words[Index.segments + index * 2], words[Index.segments + index * 2 + 1]) = segment.words
        }
        return words
    }
}

extension BoardHeader.Owner {
    fileprivate init(boot: UInt64, incarnation: Int64) {
        self.boot = boot
        self.incarnation = incarnation
    }
}
