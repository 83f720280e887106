import CBreakerStore

/// What the first 4,096 bytes of a board say: whose board it is, and where its segments are.
struct BoardHeader: Sendable {
    /// Which board a store needs.
    struct Owner: Equatable, Sendable {
        /// The boot in whose uptime the looks are: the fingerprint of its id.
        var boot: UInt64
        /// The number that the database's file was born with.
        var birth: Int64

        init(bootID: String, birth: Int64) {
            var boot = Fingerprint()
            boot.add(bytesOf: bootID)
            self.boot = boot.value
            self.birth = birth
        }
    }

    struct Segment: Equatable, Sendable {
        var kind: BoardKind
        var capacity: Int
        /// Where in the file it begins.
        var offset: Int

        var size: Int { self.capacity * self.kind.words * 8 }
        var end: Int { self.offset + self.size }
    }

    enum Place {
        static let number = 4
        static let count = 6
        static let segments = 8
    }

    static let size = 4_096
    static let words = Self.size / 8
    /// Two words each.
    static let mostSegments = (Self.words - Place.segments) / 2
    /// "BrkBoard", in the order of the bytes.
    private static let magic = "BrkBoard".utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    private static let version: UInt64 = 1
    /// Each segment begins at a multiple of this, so that it can be mapped: no supported system has larger pages.
    static let alignment = 1 << 16

    let owner: Owner
    /// The board's own number, drawn when it was made.
    let number: UInt64
    var segments: [Segment] = []

    /// Takes the words apart; nil if they are not a board's header, or if a segment would end beyond the file.
    init?(_ words: [UInt64], fileSize: Int) {
        guard words.count == Self.words, words[0] == Self.magic.littleEndian, words[1] == Self.version,
            words[5] == bs_check(words[1], words[2], words[3], words[4]), words[Place.count] <= Self.mostSegments
        else { return nil }
        self.owner = Owner(boot: words[2], birth: Int64(bitPattern: words[3]))
        self.number = words[4]
        for index in 0..<Int(words[Place.count]) {
            let place = Place.segments + index * 2
            guard let segment = Self.segment(words[place], words[place + 1], after: self.segments),
                segment.end <= fileSize
            else { return nil }
            self.segments.append(segment)
        }
    }

    /// A new board's, with segments.
    init(owner: Owner, number: UInt64, kinds: [BoardKind]) {
        self.owner = owner
        self.number = number
        for kind in kinds {
            guard let segment = self.nextSegment(kind) else { continue }
            self.segments.append(segment)
        }
    }

    /// The segment by which a board grows; nil if the table is full.
    func nextSegment(_ kind: BoardKind) -> Segment? {
        self.segments.count < Self.mostSegments ? Self.next(kind, after: self.segments) : nil
    }

    /// The size of the file.
    var end: Int { Self.end(of: self.segments) }

    private static func end(of segments: [Segment]) -> Int {
        let end = segments.last?.end ?? Self.size
        return (end + Self.alignment - 1) / Self.alignment * Self.alignment
    }

    /// Reads the description of a segment; nil unless it is just the one that `next` would add.
    private static func segment(_ first: UInt64, _ second: UInt64, after others: [Segment]) -> Segment? {
        guard let kind = BoardKind(rawValue: second & 0xFF) else { return nil }
        let next = Self.next(kind, after: others)
        return first == UInt64(next.offset) && second >> 8 == UInt64(next.capacity) ? next : nil
    }

    private static func next(_ kind: BoardKind, after others: [Segment]) -> Segment {
        let last = others.last { $0.kind == kind }
        return Segment(
            kind: kind,
            capacity: last.map { min($0.capacity * 2, kind.mostCapacity) } ?? kind.firstCapacity,
            offset: Self.end(of: others))
    }

    static func words(of segment: Segment) -> (UInt64, UInt64) {
        (UInt64(segment.offset), UInt64(segment.capacity) << 8 | segment.kind.rawValue)
    }

    /// The bytes of the header, as they are in memory.
    var encoded: [UInt64] {
        var words = [UInt64](repeating: 0, count: Self.words)
        words[0] = Self.magic.littleEndian
        words[1] = Self.version
        words[2] = self.owner.boot
        words[3] = UInt64(bitPattern: self.owner.birth)
        words[4] = self.number
        words[5] = bs_check(words[1], words[2], words[3], words[4])
        words[Place.count] = UInt64(self.segments.count)
        for (index, segment) in self.segments.enumerated() {
            (words[Place.segments + index * 2], words[Place.segments + index * 2 + 1]) = Self.words(of: segment)
        }
        return words
    }
}

extension BoardHeader.Owner {
    fileprivate init(boot: UInt64, birth: Int64) {
        self.boot = boot
        self.birth = birth
    }
}
