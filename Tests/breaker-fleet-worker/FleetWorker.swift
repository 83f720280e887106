#if PostgreSQL
import BreakerFleet
import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that runs a link: `breaker-fleet-worker FILE CONNECTION HOST`.
///
/// Answers each line of its input with the link's health, and ends when its input does.
@main enum FleetWorker {
    static func main() async throws {
        // Nothing stays behind, whatever becomes of the tests.
        alarm(120)
        let words = CommandLine.arguments
        guard words.count == 4 else { return }
        let store = try CircuitStore(path: words[1])
        var configuration = FleetLink.Configuration()
        configuration.host = words[3]
        let link = try FleetLink(store: store, connection: words[2], configuration: configuration)
        // The main actor's thread waits for the input.
        let task = Task.detached { try await link.run() }
        while readLine() != nil {
            let bytes = Array("ok health=\(self.name(of: link.health))\n".utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        task.cancel()
        try await task.value
    }

    private static func name(of health: FleetHealth) -> String {
        switch health {
        case .joined: "joined"
        case .standby: "standby"
        case .cutOff: "cutOff"
        case .closed: "closed"
        }
    }
}
#else
/// Without the trait there is no link.
@main enum FleetWorker { static func main() {} }
#endif
