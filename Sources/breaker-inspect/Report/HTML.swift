import BreakerStore

/// Text for a page.
enum HTML {
    /// The most bytes of a text that a page shows.
    private static let longest = 400

    /// Any text of the store, made safe for a page.
    ///
    /// No character of it acts as HTML, and control and format characters are spelled out, as everywhere in this
    /// tool's output.
    static func text(_ text: String) -> String {
        var shown = ""
        for scalar in text.escaped.unicodeScalars {
            if shown.utf8.count > self.longest { return shown + "…" }
            switch scalar {
            case "&": shown += "&amp;"
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// A row of a table; the cells are HTML already.
    static func row(_ cells: [String], _ cell: String = "td") -> String {
        "<tr>" + cells.map { "<\(cell)>\($0)</\(cell)>" }.joined() + "</tr>\n"
    }

    /// A table of as many rows as fit, and below it the number of the others.
    ///
    /// - Parameters:
    ///   - size: how many bytes the rows may take, so that the page of any store has a limited size.
    ///   - leftOut: how many rows the caller has left out already.
    static func table(
        _ titles: [String], _ rows: some Sequence<[String]>, size: Int, leftOut: Int = 0
    ) -> String {
        var text = "<div class=\"wide\"><table><thead>\(self.row(titles, "th"))</thead><tbody>\n"
        var left = size
        var hidden = leftOut
        for cells in rows {
            let row = left > 0 ? self.row(cells) : ""
            left -= row.utf8.count
            if row.isEmpty || left < 0 {
                left = 0
                hidden += 1
            } else {
                text += row
            }
        }
        text += "</tbody></table></div>\n"
        return hidden > 0 ? text + "<p class=\"dim\">\(hidden) more are left out.</p>\n" : text
    }
}
