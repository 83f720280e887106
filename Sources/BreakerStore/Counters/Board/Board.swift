import CBreakerStore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `<db>-board`, a scoreboard like Apache's: the cells of all circuits, which all workers of the host map and
/// add to.
///
/// Cells belong to circuits, not to workers: calls that a dead worker counted stay counted. A cell is found by its
/// circuit's incarnation, and becomes another circuit's only when its circuit is forgotten. A board lives no longer
/// than the boot. The store works without the file, too: a process that finds the file unusable replaces it by a new
/// board.
final class Board: Sendable {
    /// What a board needs of the store to make room for a cell.
    struct RoomMaking {
        /// Runs its argument under the setup lock, so that no other process or thread changes a board.
        let exclusively: (() throws(BreakerStoreError) -> Void) throws(BreakerStoreError) -> Void
        /// Whether a full board may be swept and grown now; false for a while after a failed try.
        let mayGrow: () -> Bool
        /// The incarnations of all circuits in the file; nil if the file can't be read now.
        let incarnations: () -> Set<Int64>?
        /// Called when the board could not grow.
        let growthFailed: () -> Void
    }

    let path: String
    let owner: BoardHeader.Owner
    /// The board's random number, drawn when the board was created.
    ///
    /// The database keeps the totals of each board under the board's number.
    let number: UInt64
    private let file: OpenFile
    let header: BoardMapping
    private let loss: BoardLoss
    private let segments: Mutex<Segments>

    /// The segments that the header describes, and the mappings of those whose kind this release knows.
    private struct Segments {
        var layouts: [BoardHeader.Segment] = []
        var mapped: [BoardSegment] = []

        var fileSize: Int { self.layouts.last?.end ?? BoardHeader.size }
    }

    /// Opens the board at the path if it is this owner's; nil if no process can use the file there, or there is none.
    ///
    /// After nil, the caller puts a new board there.
    ///
    /// Throws if only this process can't use the file: it has reached its limit of descriptors, of memory or of guarded
    /// mappings, or may not open the file. The board then stays, because other processes may count there.
    static func open(at path: String, of owner: BoardHeader.Owner) throws(BreakerStoreError) -> Board? {
        guard (try? StoreFile.requireSafe(name: path, isDatabase: false)) != nil else { return nil }
        guard let file = OpenFile(path, O_RDWR) else {
            let error = errno
            // There is no file, or the path leads to a symbolic link, a pipe or the like.
            if error == ENOENT || error == ELOOP || error == ENXIO { return nil }
            throw BreakerStoreError(systemError: error, doing: "open", path: path)
        }
        guard BoardReader.header(of: file)?.owner == owner else { return nil }
        let board = try Board(mapping: file, at: path, of: owner)
        // Only a board that another one has replaced is marked as moved. On the board at the path the mark is damage,
        // by which all workers would leave the board.
        return board.isMarkedMoved ? nil : board
    }

    private init(
        mapping file: consuming OpenFile, at path: String, of owner: BoardHeader.Owner
    ) throws(BreakerStoreError) {
        let loss = BoardLoss()
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        guard let header = BoardMapping(file.descriptor, offset: 0, size: BoardHeader.size, loss: loss),
            let known = Self.read(header, file.descriptor),
            let segments = Self.map(known.segments, after: Segments(), file.descriptor, loss), !loss.isLost
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

    /// Whether the counts that this process adds are lost; the store then needs another board.
    var isLost: Bool { self.loss.isLost }

    func lose() { self.loss.lose() }

    /// Marks the board as lost if the path no longer leads to it or the file has shrunk; returns whether it is still in
    /// place.
    ///
    /// Called in each maintenance pass.
    func loseIfReplaced() -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return self.loseIfReplaced(leastSize: self.segments.withLock { $0.fileSize })
    }

    private func loseIfReplaced(leastSize: Int) -> Bool {
        if !self.loss.isLost, let own = FoundFile(descriptor: self.file.descriptor),
            own.number == FoundFile(self.path)?.number, own.size >= leastSize,
            // If a program has truncated the file and extended it again, the number is 0.
            self.header.words(from: 0)[BoardHeader.Index.number] == self.number
        {
            return true
        }
        self.loss.lose()
        return false
    }

    // MARK: - Cells

    /// The cell of a key; allocates a cell if the key has none, and makes room if there is none.
    ///
    /// Blocks for as long as `room` does. Called when the cells of a circuit are made, not for each call.
    func cell(_ kind: BoardKind, _ key: CellKey, making room: RoomMaking) throws(BreakerStoreError) -> SharedWords {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var cell = Self.cell(kind, key, in: self.segments.withLock { $0.mapped })
        if cell == nil {
            // Exclusively, because no key may get two cells.
            try room.exclusively { () throws(BreakerStoreError) in
                cell = try self.allocateCell(kind, key, making: room)
            }
        }
        guard let cell, !self.isLost else { throw self.failure("it was removed or replaced") }
        return cell
    }

    static func cell(_ kind: BoardKind, _ key: CellKey, in segments: [BoardSegment]) -> SharedWords? {
        for segment in segments where segment.kind == kind {
            if let cell = segment.cell(key) { return cell }
        }
        return nil
    }

    /// Allocates a cell, unless another process has; if there is no room, frees the cells of forgotten circuits, or
    /// grows.
    private func allocateCell(
        _ kind: BoardKind, _ key: CellKey, making room: RoomMaking
    ) throws(BreakerStoreError) -> SharedWords? {
        func allocated(in segments: [BoardSegment]) -> SharedWords? {
            for segment in segments where segment.kind == kind {
                if let cell = segment.allocate(key) { return cell }
            }
            return nil
        }
        var segments = try self.segments(mappingNew: true)
        if let cell = Self.cell(kind, key, in: segments) ?? allocated(in: segments) { return cell }
        guard room.mayGrow() else { throw self.failure("it could not grow just now") }
        // `incarnations` reads the database: the lock of this object is not held here.
        if let incarnations = room.incarnations(), self.free(allBut: incarnations, in: segments, enoughFor: kind),
            let cell = allocated(in: segments)
        {
            return cell
        }
        do throws(BreakerStoreError) {
            segments = try self.segments.withLock { segments throws(BreakerStoreError) in
                try self.append(kind, &segments)
                return segments.mapped
            }
        } catch {
            room.growthFailed()
            throw error
        }
        return allocated(in: segments)
    }

    /// Frees the cells of forgotten circuits, of all kinds; returns whether enough cells of one kind became free.
    ///
    /// Enough is a quarter: with less room the board would soon be swept again. Totals are freed first: a worker that
    /// still uses the cells of such a circuit checks only the totals cell to learn that all of them are gone.
    private func free(
        allBut incarnations: Set<Int64>, in segments: [BoardSegment], enoughFor kind: BoardKind
    ) -> Bool {
        var freed = 0
        for segment in segments.filter({ $0.kind == .totals }) + segments.filter({ $0.kind != .totals })
        where segment.kind.isOfCircuits {
            let count = segment.free(allBut: incarnations)
            if segment.kind == kind { freed += count }
        }
        return freed >= segments.filter { $0.kind == kind }.reduce(0) { $0 + $1.capacity } / 4
    }

    /// The mapped segments; with `mappingNew`, those that other processes have added are mapped first.
    func segments(mappingNew: Bool) throws(BreakerStoreError) -> [BoardSegment] {
        try self.segments.withLock { segments throws(BreakerStoreError) in
            if mappingNew { try self.mapNewSegments(&segments) }
            return segments.mapped
        }
    }

    private var isMarkedMoved: Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        let seats = self.segments.withLock { $0.mapped.first { $0.kind == .seats } }
        return seats.map { SeatTable(words: $0.cell(at: 0)).isMoved } ?? false
    }

    // MARK: - Growing

    /// Maps the segments that other processes have added; loses a damaged board.
    private func mapNewSegments(_ segments: inout Segments) throws(BreakerStoreError) {
        guard let known = Self.read(self.header, self.file.descriptor), known.number == self.number,
            known.segments.starts(with: segments.layouts)
        else {
            self.loss.lose()
            throw self.failure("it is damaged")
        }
        guard let all = Self.map(known.segments, after: segments, self.file.descriptor, self.loss) else {
            throw self.failure("it can't be mapped")
        }
        segments = all
    }

    /// The table of seats, which is added to the board of an earlier release if `mayGrow`.
    ///
    /// The caller holds the setup lock.
    func seatTable(mayGrow: Bool) throws(BreakerStoreError) -> SeatTable {
        try self.segments.withLock { segments throws(BreakerStoreError) in
            try self.mapNewSegments(&segments)
            if mayGrow, !segments.mapped.contains(where: { $0.kind == .seats }) { try self.append(.seats, &segments) }
            guard let segment = segments.mapped.first(where: { $0.kind == .seats }) else {
                throw self.failure("it has no seats")
            }
            return SeatTable(words: segment.cell(at: 0))
        }
    }

    /// Adds a segment; the caller holds the setup lock.
    ///
    /// The blocks are allocated on the disk before the header names the segment: a write to a mapped hole on a full
    /// disk is a SIGBUS.
    private func append(_ kind: BoardKind, _ segments: inout Segments) throws(BreakerStoreError) {
        guard self.loseIfReplaced(leastSize: segments.fileSize),
            let known = Self.read(self.header, self.file.descriptor),
            let segment = known.nextSegment(kind)
        else { throw self.failure("it can't grow") }
        try Self.allocate(self.file.descriptor, segment.offset, segment.size, self.path)
        Hook.reached("board.allocated")
        let words = self.header.words(from: 0)
        let index = BoardHeader.Index.segments + known.segments.count * 2
        (words[index], words[index + 1]) = segment.words
        Hook.reached("board.described")
        words[BoardHeader.Index.count] = UInt64(known.segments.count + 1)
        try self.mapNewSegments(&segments)
    }

    // MARK: - The file

    private static func size(_ descriptor: Int32) -> Int { Int(FoundFile(descriptor: descriptor)?.size ?? 0) }

    private static func read(_ header: BoardMapping, _ descriptor: Int32) -> BoardHeader? {
        let words = header.words(from: 0)
        // The count is read first: a writer writes a segment's words before it raises the count.
        let count = words[BoardHeader.Index.count]
        var copy = (0..<BoardHeader.words).map { words[$0] }
        copy[BoardHeader.Index.count] = count
        return BoardHeader(copy, fileSize: Self.size(descriptor))
    }

    /// Maps the segments that are not mapped yet; nil if a mapping fails.
    private static func map(
        _ layouts: [BoardHeader.Segment], after known: Segments, _ descriptor: Int32, _ loss: BoardLoss
    ) -> Segments? {
        var segments = known
        for layout in layouts.dropFirst(known.layouts.count) {
            segments.layouts.append(layout)
            guard let kind = layout.kind else { continue }
            guard let mapping = BoardMapping(descriptor, offset: layout.offset, size: layout.size, loss: loss) else {
                return nil
            }
            segments.mapped.append(BoardSegment(kind: kind, capacity: layout.capacity, mapping: mapping))
        }
        return segments
    }

    /// Allocates disk blocks for bytes of the file.
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
