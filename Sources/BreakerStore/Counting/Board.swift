import CBreakerStore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `<db>-board`: the counters of all circuits, which all workers of the host have in memory and add to.
///
/// The counters belong to circuits, not to workers: nothing is handed out, and what a dead worker counted stays
/// counted. A cell is found by the circuit's birth, and is never another circuit's. A board lives no longer than the
/// boot. The store can do without the file: a process that finds it unusable puts a new one in its place.
final class Board: Sendable {
    /// Runs something while no other process creates or grows a board, under byte 0 of the lock file.
    typealias Growth = (() throws(BreakerStoreError) -> Void) throws(BreakerStoreError) -> Void

    let path: String
    let owner: BoardHeader.Owner
    /// Drawn at random when the board was made.
    ///
    /// The database keeps the totals of each board under its number.
    let number: UInt64
    private let file: OpenFile
    private let header: BoardMapping
    private let loss: BoardLoss
    private let segments: Mutex<[BoardSegment]>

    /// Opens the board if it is there and is this owner's; nil if a new one must be made, for all processes.
    ///
    /// Throws if only this process can't use the file: its limit of descriptors or of memory is reached, all places for
    /// mappings are taken, or it may not open the file. Other processes may count on that board, so it stays.
    static func open(at path: String, of owner: BoardHeader.Owner) throws(BreakerStoreError) -> Board? {
        guard (try? StoreFile.requireSafe(name: path, isDatabase: false)) != nil else { return nil }
        guard let file = OpenFile(path, O_RDWR) else {
            let error = errno
            // There is no file, or a link, a pipe or the like.
            if error == ENOENT || error == ELOOP || error == ENXIO { return nil }
            throw BreakerStoreError(systemError: error, doing: "open", path: path)
        }
        guard BoardReader.header(of: file)?.owner == owner else { return nil }
        return try Board(mapping: file, at: path, of: owner)
    }

    private init(
        mapping file: consuming OpenFile, at path: String, of owner: BoardHeader.Owner
    ) throws(BreakerStoreError) {
        let loss = BoardLoss()
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        guard let header = BoardMapping(file.descriptor, offset: 0, size: BoardHeader.size, loss: loss),
            let known = Self.read(header, file.descriptor),
            let segments = Self.map(known.segments, beyond: [], file.descriptor, loss), !loss.isLost
        else { throw Self.failure("it can't be mapped", path) }
        self.path = path
        self.owner = owner
        self.number = known.number
        self.file = file
        self.header = header
        self.loss = loss
        self.segments = Mutex(segments, rank: .board)
    }

    // MARK: - Losing the board

    /// Whether the numbers that this process adds reach nobody any more; the store then needs another board.
    var isLost: Bool { self.loss.isLost }

    /// Whether the path still leads to this board, and the file is as large as it was.
    ///
    /// Asked by the store's thread now and then. A board that is not in place is lost from then on.
    func isInPlace() -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return self.isInPlace(end: self.segments.withLock { Self.end(of: $0) })
    }

    private func isInPlace(end: Int) -> Bool {
        if !self.loss.isLost, let own = FoundFile(descriptor: self.file.descriptor),
            own.number == FoundFile(self.path)?.number, own.size >= end,
            // A program that cuts the file and lets it grow again leaves zeros.
            self.header.words(from: 0)[BoardHeader.Place.number] == self.number
        {
            return true
        }
        self.loss.lose()
        return false
    }

    private static func end(of segments: [BoardSegment]) -> Int { segments.last?.layout.end ?? BoardHeader.size }

    // MARK: - Cells

    /// The cell of a key; takes one if there is none, and grows the board if it has no room.
    ///
    /// Blocks for as long as `grow` does. Asked when a circuit is registered, not by its calls.
    func cell(_ kind: BoardKind, _ key: UInt64, growing grow: Growth) throws(BreakerStoreError) -> SharedWords {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var cell = Self.cell(kind, key, in: self.segments.withLock { $0 })
        if cell == nil {
            // The lock of the file keeps other processes out, the lock of this object other threads of this one.
            try grow { () throws(BreakerStoreError) in
                cell = try self.segments.withLock { segments throws(BreakerStoreError) -> SharedWords? in
                    try self.follow(&segments)
                    if let cell = Self.cell(kind, key, in: segments) { return cell }
                    try self.append(kind, &segments)
                    return Self.cell(kind, key, in: segments)
                }
            }
        }
        guard let cell, !self.isLost else { throw self.failure("it is lost") }
        return cell
    }

    /// Looks through the segments in the order in which they were added: the first with a place of this key has it.
    private static func cell(_ kind: BoardKind, _ key: UInt64, in segments: [BoardSegment]) -> SharedWords? {
        for segment in segments where segment.layout.kind == kind {
            if let cell = segment.cell(key) { return cell }
        }
        return nil
    }

    /// All segments of a kind, others' new ones included.
    func segments(_ kind: BoardKind) throws(BreakerStoreError) -> [BoardSegment] {
        try self.segments.withLock { segments throws(BreakerStoreError) in
            try self.follow(&segments)
            return segments.filter { $0.layout.kind == kind }
        }
    }

    // MARK: - Growing

    /// Maps the segments that other processes have added.
    private func follow(_ segments: inout [BoardSegment]) throws(BreakerStoreError) {
        guard let known = Self.read(self.header, self.file.descriptor), known.number == self.number,
            known.segments.starts(with: segments.lazy.map(\.layout))
        else {
            self.loss.lose()
            throw self.failure("it is damaged")
        }
        guard let more = Self.map(known.segments, beyond: segments, self.file.descriptor, self.loss) else {
            throw self.failure("it can't be mapped")
        }
        segments += more
    }

    /// Adds a segment.
    ///
    /// The disk gives room first: a segment that is known always has all its blocks. Only one process at a time does
    /// this.
    private func append(_ kind: BoardKind, _ segments: inout [BoardSegment]) throws(BreakerStoreError) {
        guard self.isInPlace(end: Self.end(of: segments)), let known = Self.read(self.header, self.file.descriptor),
            let segment = known.nextSegment(kind)
        else { throw self.failure("it can't grow") }
        try Self.allocate(self.file.descriptor, segment.offset, segment.size, self.path)
        Hook.reached("board.allocated")
        let words = self.header.words(from: 0)
        let place = BoardHeader.Place.segments + known.segments.count * 2
        (words[place], words[place + 1]) = BoardHeader.words(of: segment)
        Hook.reached("board.described")
        words[BoardHeader.Place.count] = UInt64(known.segments.count + 1)
        try self.follow(&segments)
    }

    // MARK: - The file

    private static func size(_ descriptor: Int32) -> Int { Int(FoundFile(descriptor: descriptor)?.size ?? 0) }

    private static func read(_ header: BoardMapping, _ descriptor: Int32) -> BoardHeader? {
        let words = header.words(from: 0)
        // The count is read first: a writer writes a segment's words before it raises the count.
        let count = words[BoardHeader.Place.count]
        var copy = (0..<BoardHeader.words).map { words[$0] }
        copy[BoardHeader.Place.count] = count
        return BoardHeader(copy, fileSize: Self.size(descriptor))
    }

    /// Maps the segments that are not mapped yet; nil if the known ones are not what they were.
    private static func map(
        _ layouts: [BoardHeader.Segment], beyond known: [BoardSegment], _ descriptor: Int32, _ loss: BoardLoss
    ) -> [BoardSegment]? {
        guard layouts.count >= known.count, zip(layouts, known).allSatisfy({ $0 == $1.layout }) else { return nil }
        var segments: [BoardSegment] = []
        for layout in layouts[known.count...] {
            guard let mapping = BoardMapping(descriptor, offset: layout.offset, size: layout.size, loss: loss) else {
                return nil
            }
            segments.append(BoardSegment(layout: layout, mapping: mapping))
        }
        return segments
    }

    /// Gives bytes of the file room on the disk.
    static func allocate(_ descriptor: Int32, _ offset: Int, _ size: Int, _ path: String) throws(BreakerStoreError) {
        let error = bs_allocate(descriptor, Int64(offset), Int64(size))
        guard error == 0 else { throw BreakerStoreError(systemError: error, doing: "grow", path: path) }
    }

    private func failure(_ what: String) -> BreakerStoreError { Self.failure(what, self.path) }

    private static func failure(_ what: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .unavailable, message: "cannot use '\(path)': \(what)", advice: "try again", path: path)
    }
}
