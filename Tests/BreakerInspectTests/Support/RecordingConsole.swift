import BreakerTool

@testable import breaker_inspect

/// Keeps what is written, and answers as it was told to.
final class RecordingConsole: Console {
    var outputIsTerminal = false
    var errorIsTerminal = false
    var canAsk = false
    var width: Int?
    var height: Int?
    var errorWidth: Int?
    var loginName = "ann"
    var hostName = "shop-1"
    var answers: [String] = []
    /// Called before each answer: what happens while somebody thinks.
    var whileAsked: () -> Void = {}
    let hasWrittenAll = true
    private(set) var output = ""
    private(set) var talk = ""

    init() {}

    /// A terminal on which somebody gives these answers.
    convenience init(answering answers: [String]) {
        self.init()
        (self.canAsk, self.answers) = (true, answers)
    }

    /// A terminal of that size.
    convenience init(width: Int?, height: Int? = nil) {
        self.init()
        (self.outputIsTerminal, self.width, self.height) = (true, width, height)
    }

    func write(_ text: String) { self.output += text }
    func writeErrorAsItIs(_ text: String) { self.talk += text }

    func readLine() -> String? {
        self.whileAsked()
        return self.answers.isEmpty ? nil : self.answers.removeFirst()
    }

    /// Whether an interrupt has come; asked while interrupts are deferred.
    var interrupts: () -> Bool = { false }
    private(set) var isDeferring = false

    func deferInterrupts() { self.isDeferring = true }
    func stopDeferringInterrupts() { self.isDeferring = false }
    var isInterrupted: Bool { self.interrupts() }

    /// What happens in each pause.
    var inPauses: [() -> Pause] = []
    /// What happens afterwards.
    var inFurtherPauses: () -> Pause = { .nobodyReads }
    private(set) var pauses: [Duration] = []

    func flush() {}

    func pause(for duration: Duration, listening: Bool) -> Pause {
        self.pauses.append(duration)
        return self.inPauses.isEmpty ? self.inFurtherPauses() : self.inPauses.removeFirst()()
    }

    func enterScreen() { self.output += "<screen>" }
    func leaveScreen() { self.output += "</screen>" }
}
