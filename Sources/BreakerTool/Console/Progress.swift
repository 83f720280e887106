/// How far long work has come, on a line of the terminal that is written again and again.
///
/// Without a terminal as standard error it writes nothing.
package struct Progress {
    private let console: any Console
    private let count: Int
    private let what: String
    private var width = 0

    package init(_ console: any Console, of count: Int, _ what: String) {
        self.console = console
        self.count = count
        self.what = what
    }

    package mutating func show(_ done: Int) {
        guard self.console.errorIsTerminal else { return }
        let line = "\(done) of \(self.count) \(self.what)"
        self.width = line.utf8.count
        self.console.writeError("\r\(line)")
    }

    /// Clears the line.
    package func end() {
        guard self.width > 0 else { return }
        // The terminal may have shown ^C behind the line.
        let blanks = String(repeating: " ", count: self.width + "^C".utf8.count)
        self.console.writeError("\r\(blanks)\r")
    }
}
