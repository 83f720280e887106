import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The program: everything that touches the real process.
@main enum BreakerInspect {
    /// Many times the memory that SQLite needs for a large store.
    private static let memoryOfSQLite: Int64 = 32 << 20

    static func main() {
        // The write itself finds that a reader has gone: the rest of the output is dropped.
        signal(SIGPIPE, SIG_IGN)
        // The same holds for a limit on file sizes (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        Screen.handleSignals()
        SQLiteMemory.limit(to: Self.memoryOfSQLite)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Environment(ofProcessFor: Tool.program),
            console: console
        )
        // All is written. The libraries would read code into memory only to clean up nothing.
        _exit(console.finish(code, of: Tool.program).rawValue)
    }
}
