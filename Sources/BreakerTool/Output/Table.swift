import BreakerStoreJSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Columns of text for people, kept small, because a table may have very many rows.
package struct Table {
    package struct Column {
        package var title: String
        package var isRightAligned = false
        /// The width to which a narrow terminal may cut the column; nil if the column is never cut.
        package var minimumWidth: Int?
        /// Whether a text without room beside the others goes below its row, so that none is cut; only for the last
        /// columns.
        ///
        /// Names leave such a column its minimum width.
        package var mayStandBelow = false
        /// Whether the texts are names, which people copy into commands, so that none is cut.
        ///
        /// A name without room beside the columns that are always shown gets its own line, above the rest of its row.
        package var isName = false
        /// On which terminals the column is shown.
        package var presence = Presence.always
        /// Whether a terminal also omits the column if all its texts are `-`.
        package var isLeftOutEmpty = false
        /// The least width if there is room, because later rows may need it.
        package var usualWidth = 0

        package init(
            title: String, isRightAligned: Bool = false, minimumWidth: Int? = nil, mayStandBelow: Bool = false,
            isName: Bool = false, presence: Presence = .always, isLeftOutEmpty: Bool = false, usualWidth: Int = 0
        ) {
            self.title = title
            self.isRightAligned = isRightAligned
            self.minimumWidth = minimumWidth
            self.mayStandBelow = mayStandBelow
            self.isName = isName
            self.presence = presence
            self.isLeftOutEmpty = isLeftOutEmpty
            self.usualWidth = usualWidth
        }
    }

    /// On which terminals a column is shown; other output always has it.
    package enum Presence {
        case always
        /// Unless the columns do not fit even when all are cut to their narrowest.
        case whereItFits
        /// Unless the columns that may be cut would become too narrow to read.
        case whereRoomy
    }

    package struct Cell {
        package var text: String
        package var look: Look

        package init(text: String, look: Look = .plain) {
            self.text = text
            self.look = look
        }
    }

    /// A cell whose text is a part of `text`.
    struct StoredCell {
        /// Where the text ends; it begins where the previous cell's ends.
        var end: UInt32
        var width: UInt16
        var look: Look
    }

    static let gap = 2
    /// How far a text below its row is indented.
    private static let indent = 4
    /// The least width of the lines below a row.
    private static let fewestBelow = 20
    /// The least width at which people can read a cut text.
    static let readable = 32

    /// The columns; without enough room, the widest one that may be cut is cut first.
    package let columns: [Column]
    /// Whether rows of one rank are sorted by the bytes of their first column.
    private let isSorted: Bool
    private var text: [UInt8] = []
    private(set) var storedCells: [StoredCell] = []
    private(set) var ranks: [UInt8] = []
    private(set) var widths: [Int]
    /// Whether a row has more than `-` in the column.
    private(set) var isFilled: [Bool]

    package init(columns: [Column], isSorted: Bool = false) {
        self.columns = columns
        self.isSorted = isSorted
        self.widths = columns.map { max($0.title.displayWidth, $0.usualWidth) }
        self.isFilled = columns.map { _ in false }
    }

    package var count: Int { self.ranks.count }

    package var isEmpty: Bool { self.ranks.isEmpty }

    /// Removes the rows; the columns keep their widths.
    package mutating func removeRows() {
        self.text.removeAll(keepingCapacity: true)
        self.storedCells.removeAll(keepingCapacity: true)
        self.ranks.removeAll(keepingCapacity: true)
    }

    /// Adds a row, which is shown before rows of higher ranks.
    package mutating func append(_ row: [Cell], rank: UInt8 = 0) {
        for (index, cell) in row.enumerated() {
            let width = cell.text.displayWidth
            self.widths[index] = max(self.widths[index], width)
            self.isFilled[index] = self.isFilled[index] || cell.text != "-"
            self.text.append(contentsOf: cell.text.utf8)
            self.storedCells.append(
                StoredCell(end: UInt32(clamping: self.text.count), width: UInt16(clamping: width), look: cell.look))
        }
        self.ranks.append(rank)
    }

    /// All lines, with a heading.
    ///
    /// - Parameter width: the columns of the terminal; if nil, nothing is cut.
    package func text(width: Int?, _ style: Style) -> String {
        var text = ""
        self.forEachLine(width: width, style) { text += $0 }
        return text
    }

    /// Passes the lines to `body` one by one, the heading first.
    ///
    /// - Parameters:
    ///   - onScreen: whether each line must fit into one row of the terminal, so that a wider name is cut.
    ///   - isBrief: whether a text of the last column is cut to one line where it stands below its row.
    ///   - above: gives the line that stands above a row; the rows are numbered in the order in which they were added.
    package func forEachLine(
        width: Int?, withHeading: Bool = true, onScreen: Bool = false, isBrief: Bool = false, _ style: Style,
        above: (Int) -> String? = { _ in nil }, _ body: (String) -> Void
    ) {
        let widths = self.layout(width)
        if withHeading {
            body(self.line(self.columns.map { ($0.title, $0.title.displayWidth, .heading) }, widths, style))
        }
        for row in self.order() {
            if let line = above(row) { body(line) }
            var cells = self.cells(of: row)
            for (index, column) in self.columns.enumerated() where column.isName {
                let name = cells[index]
                guard let room = widths[index], name.width > room else { continue }
                let shown = onScreen ? width.map { name.text.cutInside(to: $0) } : nil
                body(style.paint(shown ?? name.text, name.look) + "\n")
                cells[index] = ("", 0, .plain)
            }
            var below: [(text: String, look: Look)] = []
            for (index, column) in self.columns.enumerated() where column.mayStandBelow {
                guard let width, cells[index].width > widths[index] ?? 0, cells[index].text != "-" else { continue }
                let (text, _, look) = cells[index]
                let room = max(Self.fewestBelow, width - Self.indent)
                let isCut = isBrief && index == self.columns.indices.last
                let lines = isCut ? [text.cut(to: room)] : text.wrapped(to: room)
                below += lines.map { ($0, look) }
                cells[index] = ("", 0, .plain)
            }
            body(self.line(cells, widths, style))
            for line in below {
                body(String(repeating: " ", count: Self.indent) + style.paint(line.text, line.look) + "\n")
            }
        }
    }

    /// The rows by rank; within a rank in the order in which they were added, or by their first column.
    private func order() -> [Int] {
        let count = self.ranks.count
        guard self.isSorted else { return RowOrder.sorted(count) { self.ranks[$0] < self.ranks[$1] } }
        return unsafe self.text.withUnsafeBytes { text in
            func start(_ row: Int) -> Int { row == 0 ? 0 : Int(self.storedCells[row * self.columns.count - 1].end) }
            return RowOrder.sorted(count) { first, second in
                if self.ranks[first] != self.ranks[second] { return self.ranks[first] < self.ranks[second] }
                let (one, other) = (start(first), start(second))
                let (length, otherLength) = (
                    Int(self.storedCells[first * self.columns.count].end) - one,
                    Int(self.storedCells[second * self.columns.count].end) - other
                )
                let common = min(length, otherLength)
                guard let base = text.baseAddress, common > 0 else { return length < otherLength }
                let difference = unsafe memcmp(base + one, base + other, common)
                return difference == 0 ? length < otherLength : difference < 0
            }
        }
    }

    private func cells(of row: Int) -> [(text: String, width: Int, look: Look)] {
        let first = row * self.columns.count
        var start = first == 0 ? 0 : Int(self.storedCells[first - 1].end)
        return self.storedCells[first..<first + self.columns.count].map { cell in
            defer { start = Int(cell.end) }
            return (String(decoding: self.text[start..<Int(cell.end)], as: UTF8.self), Int(cell.width), cell.look)
        }
    }

    private func line(_ cells: [(text: String, width: Int, look: Look)], _ widths: [Int?], _ style: Style) -> String {
        // Spaces are written only before a text, so that no line ends with a space.
        var line = ""
        var blanks = 0
        for (index, cell) in cells.enumerated() {
            guard let width = widths[index] else { continue }
            let isCut = cell.width > width && !self.columns[index].isName
            let shown = isCut ? cell.text.cut(to: width) : cell.text
            let padding = max(0, width - (isCut ? shown.displayWidth : cell.width))
            let before = self.columns[index].isRightAligned ? padding : 0
            if !shown.isEmpty {
                for _ in 0..<blanks + before { line += " " }
                line += style.paint(shown, cell.look)
                blanks = 0
            } else {
                blanks += before
            }
            blanks += padding - before + Self.gap
        }
        return line + "\n"
    }
}
