import BreakerStore

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
        Screen.handleSignals()
        SQLiteMemory.limit(to: Self.memoryOfSQLite)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Self.environment,
            console: console
        )
        // All is written: nothing is left for the libraries to clean up, which would be read in for that.
        _exit(console.finish(code).rawValue)
    }

    /// The variables of the environment that the tool asks for: Foundation's reading of all of them costs memory.
    private static var environment: Environment {
        var environment: Environment = [:]
        for (name, _) in Environment.known {
            if let value = unsafe getenv(name) { environment[name] = unsafe String(cString: value) }
        }
        return environment
    }
}
