import BreakerStore
import BreakerTool
import CBreakerCommand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The program: everything that touches the real process.
@main enum BreakerInspect {
    /// The limit of SQLite's memory: many times what a large store needs.
    private static let memoryOfSQLite: Int64 = 32 << 20

    static func main() {
        Keeper.runIfAsked()
        #if BREAKERSTORE_HOOKS
        // For tests: the named step of the process at which it is killed.
        if let step = unsafe getenv("BREAKER_KILLED_AT").map({ unsafe String(cString: $0) }) {
            Hook.install { if $0 == step { kill(getpid(), SIGKILL) } }
        }
        #endif
        // Before a handler is set: a command that `run` starts gets the signals as they were.
        bc_record_inherited_signals()
        // Ignored, because a write without a reader also fails with an error: the rest of the output is dropped.
        signal(SIGPIPE, SIG_IGN)
        // The same is true of a write beyond the limit on file sizes (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        Screen.handleSignals()
        SQLiteMemory.limit(to: Self.memoryOfSQLite)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Environment(ofProcessFor: Tool.program),
            console: console
        )
        // Not `exit`: everything is written, and the libraries would load code that has nothing to clean up.
        _exit(console.finish(code, of: Tool.program).rawValue)
    }
}
