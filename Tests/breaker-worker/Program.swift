import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that shares a store with the tests: it does what the lines of its input say, and answers each with one
/// line.
///
/// Its only argument is the file of the clock that it lives by, without which that is the host's. With `prefork` and a
/// store it is a parent of workers instead, as "Running workers on a host" has one.
@main
enum Program {
    @MainActor
    static func main() async throws {
        // Nothing stays behind, whatever becomes of the tests.
        alarm(120)
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "prefork", let store = arguments.last { return try PreforkSnippets.run(at: store) }
        let worker = Worker(clock: try arguments.first.map(SharedClock.init))
        while let line = readLine() {
            do {
                self.say(try await worker.perform(Command(line)))
            } catch {
                self.say("error \(error)")
            }
        }
        try await worker.leave()
    }

    /// One write, so that a line is out before whatever comes next, a SIGKILL too.
    static func say(_ text: String) {
        let bytes = Array((text.split(separator: "\n").joined(separator: " ") + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
}
