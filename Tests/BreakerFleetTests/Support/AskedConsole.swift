#if PostgreSQL
import BreakerFleetTestSupport
import BreakerTool

@testable import breaker_fleet

/// What the program answers in this process.
struct Answer {
    var code: ExitCode
    var output: String
    var talk: String

    /// - Parameters:
    ///   - answer: what somebody says to a question; nil if nobody can be asked.
    ///   - whileAsked: what happens while somebody thinks.
    init(
        _ line: [String], at database: TestDatabase, answering answer: String? = nil,
        whileAsked: @escaping () throws -> Void = {}
    ) {
        let console = AskedConsole(answering: answer, whileAsked: whileAsked)
        self.code = breaker_fleet.run(
            arguments: line + ["--postgres", database.connection], environment: [:], console: console)
        (self.output, self.talk) = (console.output, console.talk)
    }
}

/// A console without a terminal of its own, on which somebody may answer.
final class AskedConsole: Console {
    let outputIsTerminal = false
    let errorIsTerminal = false
    let width: Int? = nil
    let errorWidth: Int? = nil
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
    func writeErrorAsItIs(_ text: String) { self.talk += text }

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
