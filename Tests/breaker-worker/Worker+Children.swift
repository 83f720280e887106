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

/// Children that outlive this process, and do nothing until they are killed, or for a minute.
extension Worker {
    /// `leave-child fork|program`: starts one.
    func leaveChild(_ command: Command) throws -> String {
        "pid=\(try command.word(0) == "program" ? Self.startProgram() : Self.fork())"
    }

    // Who waits for this process's end waits for the end of its output: no child may have that open.

    private static func fork() throws -> pid_t {
        let child = ts_fork_for(60)
        guard child >= 0 else { throw SystemError("fork") }
        guard child == 0 else { return child }
        close(STDIN_FILENO)
        close(STDOUT_FILENO)
        while true { pause() }
    }

    /// Calls no handler of forks, as most that start programs don't.
    private static func startProgram() throws -> pid_t {
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        return try unsafe spawn(["sleep", "60"], environment: environment) { actions in
            unsafe posix_spawn_file_actions_addclose(&actions, STDIN_FILENO)
            unsafe posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO)
        }
    }
}
