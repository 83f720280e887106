#if PostgreSQL
import BreakerTool

/// A console without a terminal of its own, on which somebody may answer.
final class AskedConsole: Console {
    let outputIsTerminal = false
    let errorIsTerminal = false
    let width: Int? = nil
    let height: Int? = nil
    let loginName = "ann"
    let hostName = "shop-1"
    let hasWrittenAll = true
    let isInterrupted = false
    private let answer: String?
    /// Called before the answer: what happens while somebody thinks.
    private let whileAsked: () throws -> Void
    private(set) var output = ""
    private(set) var talk = ""

    /// - Parameter answer: nil if nobody can be asked.
    init(answering answer: String?, whileAsked: @escaping () throws -> Void = {}) {
        self.answer = answer
        self.whileAsked = whileAsked
    }

    var canAsk: Bool { self.answer != nil }

    func write(_ text: String) { self.output += text }
    func writeError(_ text: String) { self.talk += text }

    func readLine() -> String? {
        try? self.whileAsked()
        return self.answer
    }

    func flush() {}
    func deferInterrupts() {}
    func stopDeferringInterrupts() {}
    func pause(for duration: Duration, listening: Bool) -> Pause { .nobodyReads }
    func enterScreen() {}
    func leaveScreen() {}
}
#endif
