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
/// A line may have several commands, parted by ` ; `: their answers are parted so, too. The first that can't be done
/// ends the line, and the answer begins with `error` then.
///
/// Its only argument is the file of the clock that it lives by, without which that is the host's. With `prefork` and a
/// store it is a parent of workers instead, as "Running workers on a host" has one.
@main
enum Program {
    @MainActor
    static func main() async throws {
        Self.setAlarm()
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "prefork", let store = arguments.last { return try PreforkSnippets.run(at: store) }
        let worker = Worker(clock: try arguments.first.map(SharedClock.init))
        while let line = readLine() {
            Self.setAlarm()
            do {
                var answers: [String] = []
                for command in Command.all(of: line) { answers.append(try await worker.perform(command)) }
                self.say(answers.joined(separator: " ; "))
            } catch {
                self.say("error \(error)")
            }
        }
        try await worker.leave()
    }

    /// Nothing stays behind, whatever becomes of the tests: who asks nothing for so long has gone.
    private static func setAlarm() { alarm(120) }

    /// One write, so that a line is out before whatever comes next, a SIGKILL too.
    static func say(_ text: String) {
        let bytes = Array((text.split(separator: "\n").joined(separator: " ") + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
}
