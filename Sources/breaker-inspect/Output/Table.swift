/// Columns of text for people.
struct Table {
    struct Column {
        var title: String
        var isRightAligned = false
        /// How narrow it may become where the terminal is; nil if it is never cut.
        var minimumWidth: Int?
    }

    struct Cell {
        var text: String
        var look = Look.plain
    }

    private static let gap = 2

    /// Where there is no room the last of those that may be cut is cut first.
    var columns: [Column]
    var rows: [[Cell]] = []

    /// The lines, with a heading.
    ///
    /// - Parameter width: the columns of the terminal; nil cuts nothing.
    func text(width: Int?, _ style: Style) -> String {
        var widths = self.columns.map { $0.title.displayWidth }
        for row in self.rows {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.text.displayWidth) }
        }
        if let width { self.shrink(&widths, to: width) }
        var text = ""
        self.append(self.columns.map { Cell(text: $0.title, look: .heading) }, to: &text, widths, style)
        for row in self.rows { self.append(row, to: &text, widths, style) }
        return text
    }

    private func shrink(_ widths: inout [Int], to available: Int) {
        var excess = widths.reduce(Self.gap * (widths.count - 1), +) - available
        for index in self.columns.indices.reversed() {
            guard excess > 0, let minimum = self.columns[index].minimumWidth else { continue }
            let given = min(excess, max(0, widths[index] - minimum))
            widths[index] -= given
            excess -= given
        }
    }

    private func append(_ row: [Cell], to text: inout String, _ widths: [Int], _ style: Style) {
        // Blanks are written only where something follows: no line ends with one.
        var blanks = 0
        for (index, cell) in row.enumerated() {
            let shown = cell.text.cut(to: widths[index])
            let padding = widths[index] - shown.displayWidth
            let before = self.columns[index].isRightAligned ? padding : 0
            if !shown.isEmpty {
                text += String(repeating: " ", count: blanks + before) + style.paint(shown, cell.look)
                blanks = 0
            } else {
                blanks += before
            }
            blanks += padding - before + Self.gap
        }
        text += "\n"
    }
}
