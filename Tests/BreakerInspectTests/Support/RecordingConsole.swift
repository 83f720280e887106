@testable import breaker_inspect

/// Keeps what is written, and answers as it was told to.
final class RecordingConsole: Console {
    var outputIsTerminal = false
    var canAsk = false
    var width: Int?
    var loginName = "ann"
    var answers: [String] = []
    /// Called before each answer: what happens while somebody thinks.
    var whileAsked: () -> Void = {}
    private(set) var output = ""
    private(set) var talk = ""

    func write(_ text: String) { self.output += text }
    func writeError(_ text: String) { self.talk += text }

    func readLine() -> String? {
        self.whileAsked()
        return self.answers.isEmpty ? nil : self.answers.removeFirst()
    }
}
