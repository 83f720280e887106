import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The demo, and in other processes its workers, links and ways.
@main
enum Program {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if try self.play(arguments) { return }
        } catch {
            Descriptor(STDERR_FILENO).send("\(arguments): \(error)\n")
            exit(1)
        }
        exit(
            self.demonstrate { console, claims in
                if arguments.isEmpty { return try Story(console: console, claims: claims).tell() }
                #if PostgreSQL
                if arguments == [FleetStory.word] { return try FleetStory(console: console, claims: claims).tell() }
                #endif
                throw DemoError.usage
            })
    }

    /// Plays another part than the demo; returns false if the arguments name none.
    private static func play(_ arguments: [String]) throws -> Bool {
        switch arguments.first {
        case WorkerMode.word: try WorkerMode(arguments: arguments).run()
        #if PostgreSQL
        case LinkMode.word: try LinkMode(arguments: arguments).run()
        case WayMode.word: try WayMode(arguments: arguments).run()
        #endif
        default: return false
        }
        return true
    }

    /// Tells a story; returns the exit code.
    private static func demonstrate(_ tell: (Console, Claims) throws -> Void) -> Int32 {
        Interrupt.watch()
        let console = Console()
        let claims = Claims(console)
        do {
            try tell(console, claims)
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
