import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Programs that this process runs and measures.
///
/// The kernel counts a program at its start as large as the process that starts it. So whoever holds much lets a worker
/// start the programs.
extension Worker {
    private static let patience = Duration.hangLimit

    /// `run <talk> <store> <temporary> <word>...`, parted by tabs: runs a command, and tells how it ended.
    ///
    /// The first three are the file for what it says, its store, and its directory for temporary files.
    func run(_ command: Command) throws -> String {
        let words = command.rest(0).split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard words.count > 3 else { throw Missing(what: "a command to run") }
        let environment = ["BREAKER_STORE=\(words[1])", "TMPDIR=\(words[2])", "PATH=/usr/bin:/bin"]
        return Self.wait(for: try Self.start(Array(words[3...]), environment, words[0]))
    }

    private static func wait(for pid: pid_t) -> String {
        let deadline = ContinuousClock.now + Self.patience
        var isHung = false
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(pid, &status, WNOHANG, &usage) == 0 {
            if ContinuousClock.now > deadline, !isHung {
                isHung = true
                kill(pid, SIGKILL)
            }
            usleep(300)
        }
        #if canImport(Darwin)
        let memory = usage.ru_maxrss
        #else
        let memory = usage.ru_maxrss << 10
        #endif
        return "code=\(ts_exit_code(status)) hung=\(isHung ? 1 : 0) memory=\(memory)"
    }

    private static func start(_ command: [String], _ environment: [String], _ talk: String) throws -> pid_t {
        let flags = O_WRONLY | O_CREAT | O_APPEND
        return try unsafe spawn(command, environment: environment) { actions in
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, talk, flags, 0o600)
            unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, talk, flags, 0o600)
        }
    }
}
