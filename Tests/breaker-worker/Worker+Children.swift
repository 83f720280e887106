import BreakerTestSupport
import CTestSupport

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
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addclose(&actions, STDIN_FILENO)
        unsafe posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO)
        let program = ["sleep", "60"]
        var words = unsafe program.map { unsafe strdup($0) } + [nil]
        defer { for place in unsafe words.indices { unsafe free(words[place]) } }
        var child: pid_t = 0
        let code = unsafe posix_spawnp(&child, "sleep", &actions, nil, &words, environ)
        guard code == 0 else { throw SystemError("start sleep", code: code) }
        return child
    }
}
