import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a part has done and found so far; says so every ten seconds and at the end.
final class Report: Sendable {
    private struct State {
        var counts: [(what: String, count: Int)] = []
        var violations = 0
        var lastLine = ContinuousClock.now
    }

    private static let maxShown = 20
    private static let interval = Duration.seconds(10)

    private let part: Part
    private let options: Options
    private let start = ContinuousClock.now
    private let state = Locked(State())

    init(_ part: Part, _ options: Options) {
        self.part = part
        self.options = options
    }

    /// Adds to a count, such as "kills".
    func add(_ count: Int, _ what: String) {
        let isDue = self.state.withLock { state in
            if let place = state.counts.firstIndex(where: { $0.what == what }) {
                state.counts[place].count += count
            } else {
                state.counts.append((what, count))
            }
            guard ContinuousClock.now - state.lastLine > Self.interval else { return false }
            state.lastLine = .now
            return true
        }
        if isDue { Self.say(self.line) }
    }

    /// Notes the most of something, such as the milliseconds of the slowest call.
    func raise(_ count: Int, _ what: String) {
        let known = self.count(of: what)
        if count > known { self.add(count - known, what) }
    }

    func count(of what: String) -> Int {
        self.state.withLock { $0.counts.first { $0.what == what }?.count ?? 0 }
    }

    /// Adds what a process tells of its round: `<count>=<what>` and `!<violation>`, with tabs between.
    func take(_ reply: Reply, _ round: Int) {
        for field in reply.description.split(separator: "\t") {
            if field.first == "!" {
                self.violated("round \(round): \(field.dropFirst())")
                continue
            }
            let parts = field.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let count = Int(parts[0]) else { continue }
            self.add(count, String(parts[1]))
        }
    }

    /// Something that must never be.
    func violated(_ what: String) {
        let number = self.state.withLock {
            $0.violations += 1
            return $0.violations
        }
        if number <= Self.maxShown || self.options.isPatient { Self.say("\(self.part.rawValue): VIOLATION \(what)") }
    }

    /// Whether the part may go on: neither its time nor the patience with violations is over.
    var goesOn: Bool {
        if let duration = self.options.duration, ContinuousClock.now - self.start > duration { return false }
        if self.options.isPatient { return true }
        return self.state.withLock { $0.violations < (self.options.isShort ? 1 : Self.maxShown) }
    }

    var violations: Int { self.state.withLock { $0.violations } }

    /// Says how it ended; false if anything was violated.
    func close() -> Bool {
        Self.say(self.line)
        return self.state.withLock { $0.violations == 0 }
    }

    private var line: String {
        let seconds = Int((ContinuousClock.now - self.start) / .seconds(1))
        let (counts, violations) = self.state.withLock { ($0.counts, $0.violations) }
        let numbers = (counts + [("violations", violations)]).map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        return "\(self.part.rawValue): \(numbers); \(seconds) s, seed \(self.options.seed)"
    }

    /// One write, so that lines of several processes don't mix.
    static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
