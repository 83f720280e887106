/// The content of a terminal's screen, which writes only lines that differ.
package struct Frame {
    private let console: any Console
    private var drawn: [String] = []
    private var size: [Int?] = []

    package init(_ console: any Console) { self.console = console }

    /// Notes that something else may stand on the screen.
    package mutating func forget() { self.drawn = [] }

    /// Shows lines, which end with a line feed, as many as fit.
    package mutating func draw(_ lines: [String]) {
        // The signal of a new size may come at any time.
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
