import BreakerTestSupport
import CTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// The process that forks workers, kills them and looks at what they leave.
    ///
    /// It has one thread and no store open, so that its children can have theirs.
    enum Killer {
        /// One line asks for a round, one line tells how it went.
        ///
        /// - Parameter libraries: folders with libraries of SQLite for the workers.
        static func run(_ libraries: [String]) -> Int32 {
            _ = signal(SIGPIPE, SIG_IGN)
            while let line = readLine() {
                let words = line.split(separator: " ")
                guard words.count == 3, let seed = UInt64(words[0]) else { return 64 }
                var round = Round(
                    directory: String(words[1]), seed: seed, isShort: words[2] == "short", libraries: libraries)
                round.run()
                let violations = round.violations.prefix(30).map { text in
                    "!" + text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
                }
                let counts = round.counts.sorted { $0.key < $1.key }.map { "\($0.value)=\($0.key)" }
                let bytes = Array(((counts + violations).joined(separator: "\t") + "\n").utf8)
                var sent = 0
                while sent < bytes.count {
                    let count = unsafe bytes[sent...].withUnsafeBytes {
                        unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count)
                    }
                    guard count > 0 else { return 1 }
                    sent += count
                }
            }
            return 0
        }

        /// A child, and the end of the pipe from which to read what it says.
        static func fork(
            _ body: @escaping @Sendable (_ pipe: Int32, _ parent: pid_t) -> Int32
        ) throws -> (pid: pid_t, pipe: Int32) {
            var ends: [Int32] = [0, 0]
            guard unsafe ts_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
            let parent = getpid()
            let child = ts_fork()
            if child == 0 {
                close(ends[0])
                // The killer's own are not the children's to keep open.
                let nowhere = unsafe open("/dev/null", O_RDWR)
                dup2(nowhere, STDIN_FILENO)
                dup2(nowhere, STDOUT_FILENO)
                let pipe = ends[1]
                // The runtime takes the first thread for that of the parent, by whose number it would lock.
                Thread.detachNewThread { _exit(body(pipe, parent)) }
                while true { pause() }
            }
            close(ends[1])
            guard child > 0 else {
                close(ends[0])
                throw SystemError("fork")
            }
            return (child, ends[0])
        }

        /// Waits for a child's end: its exit code, or a signal's number below zero.
        static func wait(for child: pid_t) -> Int32 {
            var status: Int32 = 0
            while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
            return ts_exit_code(status)
        }
    }
}
