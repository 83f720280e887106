#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a board without mapping it and without writing anything, for snapshots and totals.
final class BoardReader: Sendable {
    private let file: OpenFile
    let header: BoardHeader

    /// Nil if there is no usable board at the path.
    init?(at path: String) {
        guard let file = OpenFile(path, O_RDONLY), let header = Self.header(of: file) else { return nil }
        self.file = file
        self.header = header
    }

    /// What an open file says as a board; nil if the file is none, or is shorter than its header says.
    static func header(of file: borrowing OpenFile) -> BoardHeader? {
        guard let found = FoundFile(descriptor: file.descriptor),
            let words = Self.read(file.descriptor, 0, BoardHeader.words)
        else { return nil }
        return BoardHeader(words, fileSize: Int(found.size))
    }

    /// The totals of all circuits, by their births.
    func totals() -> [Int64: BlockTotals] {
        var totals: [Int64: BlockTotals] = [:]
        self.forEach(.block) { key, cell in
            totals[Int64(bitPattern: key)] = CountBlock(words: cell).totals
        }
        return totals
    }

    /// The births of circuits whose totals the file has not been told, and that no process has taken within `pause`.
    func untold(at uptime: Int64, pause: Int64) -> Set<UInt64> {
        var births: Set<UInt64> = []
        self.forEach(.block) { key, cell in
            let block = CountBlock(words: cell)
            if block.totals.sum != block[.told], block.isToTell(at: uptime, pause: pause) { births.insert(key) }
        }
        return births
    }

    /// A copy of one circuit's counters in this process's memory; nil if the board does not have the circuit.
    func counter(birth: Int64, _ rules: CountingRules) -> CircuitCounter? {
        let key = UInt64(bitPattern: birth)
        guard let block = self.cell(.block, key) else { return nil }
        return CircuitCounter(
            copying: block, failing: self.cell(.ring, key), slow: self.cell(.ring, BoardKind.slowKey(key)),
            durations: self.cell(.durations, key), rules)
    }

    /// The workers that have said that they are degraded; those who died since are among them.
    func degraded() -> [Board.Degraded] {
        var workers: [Board.Degraded] = []
        self.forEach(.worker) { _, cell in
            if let worker = Board.Degraded(cell) { workers.append(worker) }
        }
        return workers
    }

    private func cell(_ kind: BoardKind, _ key: UInt64) -> [UInt64]? {
        guard key != 0 else { return nil }
        for segment in self.header.segments where segment.kind == kind {
            for place in BoardSegment.places(of: key, capacity: segment.capacity) {
                let offset = segment.offset + place * kind.words * 8
                guard let cell = Self.read(self.file.descriptor, offset, kind.words) else { return nil }
                if cell[0] == key { return cell }
                if cell[0] == 0 { return nil }
            }
        }
        return nil
    }

    private func forEach(_ kind: BoardKind, _ body: (UInt64, SharedWords) -> Void) {
        for segment in self.header.segments where segment.kind == kind {
            guard let words = Self.read(self.file.descriptor, segment.offset, segment.size / 8) else { continue }
            let cells = PrivateCells(copying: words)
            for place in 0..<segment.capacity where words[place * kind.words] != 0 {
                body(words[place * kind.words], cells.words(from: place * kind.words))
            }
        }
    }

    /// So many words from an offset on; nil if the file ends before.
    ///
    /// A word that another process is changing is read as it was or as it is.
    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt64]? {
        var words = [UInt64](repeating: 0, count: count)
        let size = count * 8
        let read = unsafe words.withUnsafeMutableBytes { bytes in
            unsafe pread(descriptor, bytes.baseAddress, size, off_t(offset))
        }
        return read == size ? words : nil
    }
}
