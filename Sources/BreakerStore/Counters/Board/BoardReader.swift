#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a board by `pread`, for snapshots and totals; maps nothing and writes nothing.
final class BoardReader: Sendable {
    private let file: OpenFile
    let header: BoardHeader

    /// Nil if there is no usable board at the path.
    init?(at path: String) {
        guard let file = OpenFile(path, O_RDONLY), let header = Self.header(of: file) else { return nil }
        self.file = file
        self.header = header
    }

    /// The header of an open file; nil if the file is no board, or ends before a segment does.
    static func header(of file: borrowing OpenFile) -> BoardHeader? {
        guard let words = Self.read(file.descriptor, 0, BoardHeader.words) else { return nil }
        Hook.reached("board.reading")
        // The size is read after the header: in between the file may grow, but a board never shrinks.
        guard let found = FoundFile(descriptor: file.descriptor) else { return nil }
        return BoardHeader(words, fileSize: Int(found.size))
    }

    /// The totals of all circuits, by their incarnations.
    func totals() -> [Int64: CellTotals] {
        var totals: [Int64: CellTotals] = [:]
        self.forEach(.totals) { cell in totals[CellKey(of: cell).incarnation] = TotalsCell(words: cell).totals }
        return totals
    }

    /// One circuit's totals; nil if the board does not have the circuit.
    func totals(_ key: CellKey) -> CellTotals? { self.withCell(.totals, key) { TotalsCell(words: $0).totals } }

    /// The durations of one circuit's calls; nil if the board has none of the circuit.
    func durations(_ key: CellKey) -> DurationBuckets? { self.withCell(.durations, key) { DurationBuckets($0) } }

    /// The text of a circuit's last failure, and the uptime then.
    func lastError(_ key: CellKey) -> (text: String, uptime: Uptime)? {
        self.withCell(.lastError, key) { ErrorCell(words: $0).last } ?? nil
    }

    /// The calls in the window that ends now; nil if the board has no such window.
    func sums(
        _ key: CellKey, _ ticks: WindowTicks, inGeneration windowGeneration: WindowGeneration, at uptime: Uptime
    ) -> WindowCount? {
        self.withCell(.ring, key) { cell in
            Ring(words: cell.from(CellKey.words), ticks: ticks)
                .sums(at: ticks.tick(at: uptime, inGeneration: windowGeneration)).calls
        }
    }

    /// The workers that have published that they are degraded; workers that died since are among them.
    func degraded() -> [Board.Degraded] {
        var workers: [Board.Degraded] = []
        self.forEach(.degradedWorker) { cell in
            if let worker = Board.Degraded(cell) { workers.append(worker) }
        }
        return workers
    }

    /// Calls `body` with a copy of the cell of a key; nil if there is none.
    private func withCell<Result>(_ kind: BoardKind, _ key: CellKey, _ body: (SharedWords) -> Result) -> Result? {
        for segment in self.header.segments where segment.kind == kind {
            // The indices are consecutive, but may wrap around to the segment's beginning.
            var rest = BoardSegment.indices(of: key, capacity: segment.capacity)[...]
            while let first = rest.first {
                let count = rest.prefix { $0 >= first }.count
                rest = rest.dropFirst(count)
                let offset = segment.offset + first * kind.words * 8
                guard let words = Self.read(self.file.descriptor, offset, count * kind.words) else { return nil }
                let starts = stride(from: 0, to: words.count, by: kind.words)
                guard let start = starts.first(where: { words[$0] == key.first && words[$0 + 1] == key.second })
                else { continue }
                let cells = PrivateCells(copying: Array(words[start..<start + kind.words]))
                return withExtendedLifetime(cells) { body(cells.words(from: 0)) }
            }
        }
        return nil
    }

    private func forEach(_ kind: BoardKind, _ body: (SharedWords) -> Void) {
        for segment in self.header.segments where segment.kind == kind {
            guard let words = Self.read(self.file.descriptor, segment.offset, segment.size / 8) else { continue }
            let cells = PrivateCells(copying: words)
            withExtendedLifetime(cells) {
                for index in 0..<segment.capacity where words[index * kind.words] != 0 {
                    body(cells.words(from: index * kind.words))
                }
            }
        }
    }

    /// Reads `count` words from an offset; nil if the file ends earlier.
    ///
    /// A word that another process is changing has its old or its new value.
    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt64]? {
        var words = [UInt64](repeating: 0, count: count)
        let size = count * 8
        let read = unsafe words.withUnsafeMutableBytes { bytes in
            unsafe pread(descriptor, bytes.baseAddress, size, off_t(offset))
        }
        return read == size ? words : nil
    }
}
