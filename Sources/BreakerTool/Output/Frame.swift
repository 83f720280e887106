/// The content of a terminal's screen; drawing writes only lines that have changed.
package struct Frame {
    private let console: any Console
    private var drawn: [String] = []
    private var size: [Int?] = []

    package init(_ console: any Console) { self.console = console }

    /// Forgets the drawn lines, because the screen may show something else.
    package mutating func forget() { self.drawn = [] }

    /// Shows as many lines as fit; each ends with a line feed.
    package mutating func draw(_ lines: [String]) {
        // Checked here, because the signal of a new size may arrive at any time.
        let size = [self.console.width, self.console.height]
        if size != self.size { self.forget() }
        self.size = size
        let lines = Array(lines.prefix(self.console.height ?? .max))
        guard lines != self.drawn else { return }
        // Each line clears the rest of its row, then the rows below are cleared. The last line feed would scroll.
        var text = self.drawn.isEmpty ? "\u{1B}[2J" : ""
        for (index, line) in lines.enumerated() where !self.drawn.indices.contains(index) || self.drawn[index] != line {
            text += "\u{1B}[\(index + 1);1H\(line.dropLast())\u{1B}[K"
        }
        if lines.count < self.drawn.count { text += "\u{1B}[\(lines.count + 1);1H\u{1B}[J" }
        self.console.write(text)
        self.console.flush()
        self.drawn = lines
    }
}
