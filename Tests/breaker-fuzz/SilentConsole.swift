import BreakerStore
import BreakerTool

#if !BREAKERSTORE_FUZZ
@testable import breaker_inspect
#endif

/// Keeps what the tool writes, and lets a manual clock's time pass in its pauses.
final class SilentConsole: Console {
    var outputIsTerminal = false
    let errorIsTerminal = false
    let hasWrittenAll = true
    var canAsk = false
    var width: Int?
    var height: Int? { self.width.map { $0 / 3 } }
    var errorWidth: Int? { self.width }
    let loginName = "ann"
    let hostName = "nowhere"
    var answer: String?
    private(set) var output = ""
    private(set) var talk = ""
    private let clock: ManualHostClock
    private var pauses = 0

    init(_ clock: ManualHostClock) { self.clock = clock }

    func write(_ text: String) { self.output += text }
    func writeErrorAsItIs(_ text: String) { self.talk += text }
    func flush() {}
    func readLine() -> String? { self.answer }

    func pause(for duration: Duration, listening: Bool) -> Pause {
        // Longer each time: to wait for years takes a few pauses.
        self.clock.advance(by: .seconds(1 << min(self.pauses, 40)))
        self.pauses += 1
        return listening && self.pauses > 3 ? .nobodyReads : .isOver
    }

    func deferInterrupts() {}
    func stopDeferringInterrupts() {}
    let isInterrupted = false

    func enterScreen() {}
    func leaveScreen() {}
}
