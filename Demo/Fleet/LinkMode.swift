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

/// What `breaker-fleet run` is, on a host that has another clock than this machine.
///
/// It says in lines how it stands with PostgreSQL, and ends when its input does.
struct LinkMode {
    /// The first argument of a link.
    static let word = "link"

    private let store: CircuitStore
    private let link: FleetLink

    static func arguments(host: String, path: String, clock: ClockOfAHost, connection: String) -> [String] {
        [Self.word, host, path, String(clock.number), connection]
    }

    init(arguments: [String]) throws {
        guard arguments.count == 5 else { throw DemoError.usage }
        var configuration = CircuitStore.Configuration()
        configuration.workerName = "link of \(arguments[1])"
        configuration.clock = try ClockOfAHost(argument: arguments[3])
        self.store = try CircuitStore(path: arguments[2], configuration: configuration)
        var fleet = FleetLink.Configuration()
        let host = arguments[1]
        fleet.host = host
        fleet.guardTime = FleetRules.guardTime
        fleet.onHealth = { Descriptor(STDOUT_FILENO).send("\(host): \(LinkHealth($0).rawValue)\n") }
        self.link = try FleetLink(store: self.store, connection: arguments[4], configuration: fleet)
    }

    func run() {
        Task.detached { [link = self.link] in try await link.run() }
        let input = Descriptor(STDIN_FILENO)
        while Descriptor.ready(of: [input], within: .seconds(3_600)).isEmpty {}
        self.link.close()
    }
}
#endif
