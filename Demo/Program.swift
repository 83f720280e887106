import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The demo, and in other processes its workers.
@main
enum Program {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == WorkerMode.word {
            self.work(arguments)
        } else {
            exit(self.demonstrate())
        }
    }

    private static func work(_ arguments: [String]) {
        do {
            try WorkerMode(arguments: arguments).run()
        } catch {
            Descriptor(STDERR_FILENO).send("\(arguments): \(error)\n")
            exit(1)
        }
    }

    /// Tells the story; returns the exit code.
    private static func demonstrate() -> Int32 {
        Interrupt.watch()
        let console = Console()
        let claims = Claims(console)
        do {
            try Story(console: console, claims: claims).tell()
        } catch DemoError.interrupted(let signal) {
            return 128 + signal
        } catch {
            console.end("The demo could not go on: \(error)", isGood: false)
            return 1
        }
        guard claims.failures == 0 else {
            console.end("\(claims.failures) of \(claims.count) claims do not hold", isGood: false)
            return 1
        }
        console.end("all \(claims.count) claims hold", isGood: true)
        return 0
    }
}
