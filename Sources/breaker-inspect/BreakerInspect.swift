#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The program: all that touches the real process.
@main enum BreakerInspect {
    static func main() {
        // A reader that goes away is noticed by the write: the rest of the output is dropped.
        signal(SIGPIPE, SIG_IGN)
        // A change is committed or not, whenever the process ends. The line that shows ^C is ended.
        signal(SIGINT) { _ in
            if isatty(STDERR_FILENO) != 0 { unsafe write(STDERR_FILENO, "\n", 1) }
            _exit(ExitCode.interrupted.rawValue)
        }
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment,
            console: console
        )
        exit(console.finish(code).rawValue)
    }
}
