#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where the story is told.
final class Console {
    private let isColored: Bool
    private let output = Descriptor(STDOUT_FILENO)
    private var start = Moment.now

    init() {
        let isPlain = unsafe getenv("NO_COLOR") != nil
        self.isColored = !isPlain && isatty(STDOUT_FILENO) == 1
    }

    /// Begins a part of the story; its time counts from now.
    func begin(_ title: String) {
        self.start = Moment.now
        self.write("\n" + self.colored(title, .bold))
    }

    /// What happened, with the time since the part began.
    func tell(_ text: String) {
        let time = (Moment.now - self.start).measured
        self.write(self.colored(String(repeating: " ", count: max(0, 7 - time.count)) + time, .dim) + "  " + text)
    }

    func tellClaim(_ text: String, holds: Bool) {
        self.write("         " + (holds ? self.colored("✓", .green) : self.colored("✗", .red)) + " " + text)
    }

    /// What another program said, or a table.
    func quote(_ lines: [String]) {
        for line in lines { self.write(line.isEmpty ? "" : "           " + line) }
    }

    func write(_ line: String) { self.output.send(line + "\n") }

    func end(_ line: String, isGood: Bool) {
        self.write("\n" + self.colored(line, isGood ? .green : .red))
    }

    private enum Color: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
    }

    private func colored(_ text: String, _ color: Color) -> String {
        self.isColored ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }
}
