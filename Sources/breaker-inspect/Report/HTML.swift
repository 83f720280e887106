import BreakerStore

/// Text for a page.
enum HTML {
    /// The most bytes of a text that a page shows.
    private static let longest = 400
    /// The most rows of a table that are not folded.
    static let maxRows = 40

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

    /// A part of the page that is seen once its summary is clicked, which needs no script.
    static func fold(_ summary: String, _ content: String) -> String {
        "<details><summary>\(summary)</summary>\n\(content)</details>"
    }

    /// A table of as many rows as fit, the later ones folded, and below it the number of the others.
    ///
    /// - Parameters:
    ///   - rows: HTML, as `row` makes it.
    ///   - size: how many bytes the rows may take, so that the page of any store has a limited size.
    ///   - leftOut: how many rows the caller has left out already.
    static func table(
        _ titles: [String], _ rows: some Sequence<String>, size: Int, leftOut: Int = 0
    ) -> String {
        var (first, rest) = ("", "")
        var (shown, folded, hidden) = (0, 0, leftOut)
        var left = size
        for row in rows {
            left -= row.utf8.count
            if left < 0 {
                // Later rows, which may be smaller, would leave a gap.
                left = 0
                hidden += 1
            } else if shown < self.maxRows {
                first += row
                shown += 1
            } else {
                rest += row
                folded += 1
            }
        }
        func table(_ rows: String) -> String {
            "<div class=\"wide\"><table><thead>\(self.row(titles, "th"))</thead><tbody>\n\(rows)</tbody></table></div>\n"
        }
        var text = table(first)
        if folded > 0 { text += self.fold("\(folded) more", table(rest)) + "\n" }
        return hidden > 0 ? text + "<p class=\"dim\">Left out: \(hidden) more.</p>\n" : text
    }
}
