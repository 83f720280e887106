#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if PostgreSQL
import BreakerTool

/// The program: everything that touches the real process.
@main enum BreakerFleetMain {
    static func main() {
        // Ignored, because a write to a reader or server that is gone also fails with an error.
        signal(SIGPIPE, SIG_IGN)
        // The same is true of a write beyond the limit on file sizes (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Environment(ofProcessFor: FleetProgram.program),
            console: console
        )
        // Not `exit`: a link's thread may still wait for a server that does not answer.
        _exit(console.finish(code, of: FleetProgram.program).rawValue)
    }
}
#else
/// Without the trait PostgreSQL there is nothing to run.
@main enum BreakerFleetMain {
    static func main() {
        let text = Array("breaker-fleet: built without the trait PostgreSQL\nhint: 'make fleet' builds it\n".utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
        _exit(1)
    }
}
#endif
