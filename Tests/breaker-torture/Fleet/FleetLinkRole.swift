#if PostgreSQL
import BreakerFleet
import BreakerFleetTestSupport
import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that runs a link, and says how it is for each line of its input.
enum FleetLinkRole {
    /// `<directory> <host> <connection string>`.
    static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 3, let host = Int(arguments[1]) else { return 64 }
        alarm(600)
        let place = FleetPlace(arguments[0])
        FleetLateness.watch(place.lateness)
        do {
            try await self.work(place, host, arguments[2])
            return 0
        } catch {
            Report.say("the link of host \(host): \(error)")
            return 1
        }
    }

    private static func work(_ place: FleetPlace, _ host: Int, _ connection: String) async throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = OtherHostClock(number: host)
        let path = place.file(of: host)
        func open() throws -> CircuitStore { try CircuitStore(path: path, configuration: configuration) }
        let store = try open()
        var fleet = FleetLink.Configuration()
        fleet.host = "h\(host)"
        fleet.minimumHosts = FleetPlace.minimumHosts
        fleet.guardTime = FleetPlace.guardTime
        fleet.lease = FleetPlace.lease
        let link = try FleetLink(store: store, connection: connection, configuration: fleet)
        let task = Task.detached { try await link.run() }
        while readLine() != nil {
            let bytes = Array("health=\(self.word(for: link.health))\n".utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        task.cancel()
        try await task.value
    }

    private static func word(for health: FleetHealth) -> String {
        switch health {
        case .joined: "joined"
        case .standby: "standby"
        case .cutOff(_, let error): "cutOff:\(error.code)"
        case .closed: "closed"
        }
    }
}
#endif
