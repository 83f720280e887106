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
        Screen.handleSignals()
        let console = ProcessConsole()
        let code = run(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment,
            console: console
        )
        exit(console.finish(code).rawValue)
    }
}
