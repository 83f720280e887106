/// What stands on the screen of a terminal; only what differs is written.
package struct Frame {
    private let console: any Console
    private var drawn: [String] = []
    private var size: [Int?] = []

    package init(_ console: any Console) { self.console = console }

    /// Something else may stand there by now.
    package mutating func forget() { self.drawn = [] }

    /// Shows lines that end with a line feed, as many as there is room for.
    package mutating func draw(_ lines: [String]) {
        // The signal that tells of another size may have come at any time.
        let size = [self.console.width, self.console.height]
        if size != self.size { self.forget() }
        self.size = size
        let lines = Array(lines.prefix(self.console.height ?? .max))
        guard lines != self.drawn else { return }
        // Each line in its place, without what was behind it; then nothing more below. The last line feed would scroll.
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
