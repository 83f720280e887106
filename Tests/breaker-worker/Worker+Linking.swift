import BreakerStore

#if PostgreSQL
import BreakerFleet
#endif

/// Takes the seat of a file's one link (`seat`), or runs a link (`link`, with the trait PostgreSQL).
extension Worker {
    /// `seat take|leave`: whether this process has the seat afterwards.
    func seat(_ command: Command) throws -> String {
        let seat = try self.linkSeat ?? LinkSeat(of: self.store)
        self.linkSeat = seat
        guard try command.word(0) == "take" else {
            seat.leave()
            return "taken=false"
        }
        return "taken=\(seat.take())"
    }

    #if PostgreSQL
    /// A link that runs until the worker leaves its store.
    struct Link {
        let link: FleetLink
        let task: Task<Void, any Error>
    }

    /// `link begin <host> <connection>`: runs a link of the store; `link health`: how it is.
    func link(_ command: Command) throws -> String {
        if try command.word(0) == "health" {
            guard let link = self.fleetLink?.link else { throw Missing(what: "a link") }
            return "health=\(Self.name(of: link.health))"
        }
        var configuration = FleetLink.Configuration()
        configuration.host = try command.word(1)
        let link = try FleetLink(store: self.store, connection: command.rest(2), configuration: configuration)
        // The main actor's thread waits for the input.
        self.fleetLink = Link(link: link, task: Task.detached { try await link.run() })
        return "ok"
    }

    func endLink() async throws {
        self.fleetLink?.task.cancel()
        try await self.fleetLink?.task.value
        self.fleetLink = nil
    }

    private static func name(of health: FleetHealth) -> String {
        switch health {
        case .joined: "joined"
        case .standby: "standby"
        case .cutOff: "cutOff"
        case .closed: "closed"
        }
    }
    #else
    func link(_ command: Command) throws -> String { throw Missing(what: "the trait PostgreSQL") }

    func endLink() async throws {}
    #endif
}
