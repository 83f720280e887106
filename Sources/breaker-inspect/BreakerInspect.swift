import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The program: all that touches the real process.
@main enum BreakerInspect {
    /// Many times what SQLite needs for a large store.
    private static let memoryOfSQLite: Int64 = 32 << 20

    static func main() {
        // A reader that goes away is noticed by the write: the rest of the output is dropped.
        signal(SIGPIPE, SIG_IGN)
        // So is a limit of the size of files (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        Screen.handleSignals()
        SQLiteMemory.limit(to: Self.memoryOfSQLite)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Environment(ofProcessFor: Tool.program),
            console: console
        )
        // All is written: nothing is left for the libraries to clean up, which would be read in for that.
        _exit(console.finish(code, of: Tool.program).rawValue)
    }
}
