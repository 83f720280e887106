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
        /// Whether the texts may go below their rows if a terminal has no room beside them; only for the last column.
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
    private struct StoredCell {
        /// Where the text ends; it begins where the previous cell's ends.
        var end: UInt32
        var width: UInt16
        var look: Look
    }

    private static let gap = 2
    /// How far a text below its row is indented.
    private static let indent = 4
    /// With this much room, a text that may go below its row stays beside it.
    private static let enough = 40
    /// The least width at which people can read a cut text.
    private static let readable = 32

    /// The columns; without enough room, the widest one that may be cut is cut first.
    package let columns: [Column]
    /// Whether rows of one rank are sorted by the bytes of their first column.
    private let isSorted: Bool
    private var text: [UInt8] = []
    private var storedCells: [StoredCell] = []
    private var ranks: [UInt8] = []
    private var widths: [Int]
    /// Whether a row has more than `-` in the column.
    private var isFilled: [Bool]

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
    /// - Parameter onScreen: whether each line must fit into one row of the terminal, so that a wider name is cut.
    package func forEachLine(
        width: Int?, withHeading: Bool = true, onScreen: Bool = false, _ style: Style, _ body: (String) -> Void
    ) {
        let (widths, below) = self.layout(width)
        if withHeading {
            body(self.line(self.columns.map { ($0.title, $0.title.displayWidth, .heading) }, widths, style))
        }
        for row in self.order() {
            var cells = self.cells(of: row)
            for (index, column) in self.columns.enumerated() where column.isName {
                let name = cells[index]
                guard let room = widths[index], name.width > room else { continue }
                let shown = onScreen ? width.map { name.text.cutInside(to: $0) } : nil
                body(style.paint(shown ?? name.text, name.look) + "\n")
                cells[index] = ("", 0, .plain)
            }
            body(self.line(cells, widths, style))
            guard let below, let last = cells.last, !last.text.isEmpty else { continue }
            for line in last.text.wrapped(to: below) {
                body(String(repeating: " ", count: Self.indent) + style.paint(line, last.look) + "\n")
            }
        }
    }

    // MARK: - Layout

    /// The width of each column, nil for a column that is left out; and the width of the texts below the rows, nil if
    /// the last column's texts are not there.
    private func layout(_ available: Int?) -> (widths: [Int?], below: Int?) {
        var widths: [Int?] = self.widths
        guard let available else { return (widths, nil) }
        for (index, column) in self.columns.enumerated() where column.isLeftOutEmpty && !self.isFilled[index] {
            widths[index] = nil
        }
        self.boundNames(&widths, available)
        self.leaveOut(.whereRoomy, from: &widths, available) { min($0, max($1, Self.readable)) }
        var below: Int?
        if self.columns.last?.mayStandBelow == true, let last = widths.last ?? nil {
            let room = available - Self.total(widths.dropLast()) - Self.gap
            if room < min(last, Self.enough) {
                below = max(20, available - Self.indent)
                widths[widths.count - 1] = nil
            }
        }
        self.leaveOut(.whereItFits, from: &widths, available) { min($0, $1) }
        self.shrink(&widths, to: available)
        return (widths, below)
    }

    /// Limits names to the room that the columns that are always shown leave; a longer name gets its own line, and so
    /// needs no room in the column.
    private func boundNames(_ widths: inout [Int?], _ available: Int) {
        let needed = zip(self.columns, widths).map { column, width -> Int? in
            guard let width, column.presence == .always, !column.mayStandBelow else { return nil }
            return column.isName ? 0 : min(width, column.minimumWidth ?? width)
        }
        let room = (available - Self.total(needed[...])) / max(1, self.columns.count(where: \.isName))
        for (index, column) in self.columns.enumerated() where column.isName && self.widths[index] > room {
            let least = max(column.title.displayWidth, min(column.usualWidth, room))
            widths[index] = self.ranks.indices.reduce(least) { widest, row in
                let width = Int(self.storedCells[row * self.columns.count + index].width)
                return width > room ? widest : max(widest, width)
            }
        }
    }

    /// Leaves out columns from the last to the first, until the others fit.
    ///
    /// - Parameter cut: the width of a column, from its full width and its narrowest one.
    private func leaveOut(
        _ presence: Presence, from widths: inout [Int?], _ available: Int, cut: (_ width: Int, _ narrowest: Int) -> Int
    ) {
        for index in self.columns.indices.reversed() where self.columns[index].presence == presence {
            let needed = zip(self.columns, widths).map { column, width in
                width.map { cut($0, column.minimumWidth ?? $0) }
            }
            guard Self.total(needed[...]) > available else { return }
            widths[index] = nil
        }
    }

    private static func total(_ widths: ArraySlice<Int?>) -> Int {
        widths.reduce(-Self.gap) { $0 + ($1.map { $0 + Self.gap } ?? 0) }
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

    private func shrink(_ widths: inout [Int?], to available: Int) {
        let excess = Self.total(widths[...]) - available
        guard excess > 0 else { return }
        for _ in 0..<excess {
            var widest: (index: Int, width: Int)?
            for (index, width) in widths.enumerated() {
                guard let width, width > self.columns[index].minimumWidth ?? .max else { continue }
                if width >= widest?.width ?? 0 { widest = (index, width) }
            }
            guard let widest else { return }
            widths[widest.index] = widest.width - 1
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
