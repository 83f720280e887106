/// The progress of long work, on a line of the terminal that is overwritten each time.
///
/// Without a terminal as standard error it writes nothing.
package struct Progress {
    private let console: any Console
    private let count: Int
    private let noun: String
    private var width = 0

    package init(_ console: any Console, of count: Int, _ noun: String) {
        self.console = console
        self.count = count
        self.noun = noun
    }

    package mutating func show(_ done: Int) {
        guard self.console.errorIsTerminal else { return }
        let line = "\(done) of \(self.count) \(self.noun)"
        self.width = line.utf8.count
        self.console.writeErrorAsItIs("\r\(line)")
    }

    /// Clears the line.
    package func end() {
        guard self.width > 0 else { return }
        // The terminal may have shown ^C behind the line.
        let blanks = String(repeating: " ", count: self.width + "^C".utf8.count)
        self.console.writeErrorAsItIs("\r\(blanks)\r")
    }
}
