#if PostgreSQL
import BreakerFleet
import BreakerStore

/// How long a word about very many circuits, or one that was said while a link was away, takes to be everywhere.
struct WordFigures {
    let hosts: [BenchHost]
    let connection: String

    func tell() async throws {
        try await self.hosts.waitUntilJoined()
        // Each link makes and reads the registers first.
        try await Task.sleep(for: .seconds(10))
        let count = try self.held(false, on: self.hosts[0])
        for action in [OperatorAction.hold(.open, for: nil), .release, .reset] {
            let start = ContinuousClock.now
            var command = try self.hosts[0].store.command(action, on: [.pattern("circuit *")], by: "ann")
            while try command.next() != nil {}
            let said = ContinuousClock.now - start
            try await Waiting.until("all hosts have heard") {
                try self.hosts.allSatisfy { host in try self.hasHeard(action, count, host) }
            }
            let heard = ContinuousClock.now - start
            print("  \(action) of \(count) circuits: said in \(said), on all hosts after \(heard)")
        }
        try await self.tellReconnect()
    }

    private func hasHeard(_ action: OperatorAction, _ count: Int, _ host: BenchHost) throws -> Bool {
        switch action {
        case .hold: try self.held(true, on: host) == count
        case .release: try self.held(false, on: host) == count
        case .reset, .probe: try self.haveReset(on: host) == count
        }
    }

    private func held(_ isHeld: Bool, on host: BenchHost) throws -> Int {
        let circuits: () throws -> [CircuitSnapshot] = { try host.store.circuits() }
        return try circuits().count { $0.name.hasPrefix("circuit ") && ($0.hold != nil) == isHeld }
    }

    private func haveReset(on host: BenchHost) throws -> Int {
        try host.store.linkedCircuits(matching: "circuit *").count { $0.commands.contains { $0.kind == .reset } }
    }

    /// A word that is said while a host has no link.
    private func tellReconnect() async throws {
        let host = self.hosts[1]
        host.link.close()
        try await Waiting.until("the link is closed") { host.link.health == .closed }
        let hold: () throws -> Void = { try host.store.hold("circuit 7", .open, by: "ann") }
        try hold()
        var configuration = FleetLink.Configuration()
        configuration.host = host.name
        let link = try FleetLink(store: host.store, connection: self.connection, configuration: configuration)
        let start = ContinuousClock.now
        Task { try await link.run() }
        try await Waiting.until("the others have heard") { try self.held(true, on: self.hosts[0]) == 1 }
        let heard = ContinuousClock.now - start
        print("  a word that was said while a link was away: on all hosts \(heard) after its start")
    }
}
#endif
