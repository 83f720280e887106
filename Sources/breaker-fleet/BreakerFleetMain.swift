#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if PostgreSQL
import BreakerTool

/// The program: all that touches the real process.
@main enum BreakerFleetMain {
    static func main() {
        // A reader that goes away is noticed by the write; the same holds for a server.
        signal(SIGPIPE, SIG_IGN)
        // So is a limit of the size of files (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: Environment(ofProcessFor: FleetProgram.program),
            console: console
        )
        // A link whose server does not answer may have a thread that waits for it yet.
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
