#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// Processes that share a file, each with a link.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KilledLinkTests {
    @Test func aKilledLinkIsSucceededWithinASecond() async throws {
        let database = try await TestDatabase()
        let directory = try Directory.make("breakerstore-fleet")
        let file = directory + "/circuits.db"
        let store = try CircuitStore(path: file, configuration: .patient)
        let breaker = try synchronously { try store.breaker(FleetHost.config(recovery: .seconds(3))) }
        let other = try FleetHost(1, database.connection, config: FleetHost.config(recovery: .seconds(3)))
        let workers = try (0..<2).map { _ in try WorkerProcess() }
        defer {
            for worker in workers { worker.clear() }
            store.close()
            Directory.remove(directory)
        }
        try await workers.ask("open \(file)")
        try await workers.ask("link begin shared \(database.connection)")
        try await Fleet.ending([other]) {
            try await Fleet.wait("the other is joined") { other.isJoined }
            var healths: [String] = []
            while healths.sorted() != ["joined", "standby"] {
                healths = try await [Self.health(workers[0]), Self.health(workers[1])]
            }
            for _ in 0..<3 { try? synchronously { try breaker.run { () throws -> Void in throw FleetHost.Down() } } }
            other.fail(2)
            try await Fleet.wait("both are open") { breaker.state.isOpen && other.isOpen }
            let first = try #require(healths.firstIndex(of: "joined"))
            await workers[first].die()
            let killed = ContinuousClock.now
            while try await Self.health(workers[1 - first]) != "joined" {}
            print("the second process led \(ContinuousClock.now - killed) after the first was killed")
            try await Fleet.wait("both are closed") {
                _ = try? synchronously { try breaker.run { () throws -> Void in } }
                other.call()
                return breaker.state == .closed && !other.isOpen
            }
            let events = try synchronously { try store.history(of: "api", limit: 100) }
            #expect(events.count { $0.kind == .tripped } == 1)
            #expect(events.count { $0.kind == .closed } == 1)
            #expect(try other.events(.tripped).count == 1)
            #expect(try other.events(.closed).count == 1)
        }
    }

    private static func health(_ worker: WorkerProcess) async throws -> String {
        try await worker.ask("link health")["health"] ?? ""
    }
}
#endif
