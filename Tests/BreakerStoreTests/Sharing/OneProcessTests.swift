import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Two stores on one file in one process, forks, and files that change under calls.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OneProcessTests {
    @Test func closingOneStoreHarmsNoOther() async throws {
        let place = try Workplace.here
        let witness = try await place.openWorker()
        try await witness.ask("breaker users failures=3")
        var configuration = Stores.configuration()
        configuration.clock = place.clock
        let first = try CircuitStore(path: place.store, configuration: configuration)
        let second = try CircuitStore(path: place.store, configuration: configuration)
        defer { second.close() }
        let config = CircuitBreaker.Config(
            name: "users", recoveryTimeout: .seconds(30), maxFailures: 3, rollingWindow: .seconds(60)
        )
        let (one, two) = (try first.breaker(config), try second.breaker(config))
        await #expect(throws: Boom.self) { try await one.run { throw Boom() } }
        #expect(two.failureCount == 1)

        first.close()
        #expect(throws: BreakerStoreError.self) { _ = try first.breaker(config) }
        #expect(try await one.run { 1 } == 1)
        #expect(try await two.run { 2 } == 2)
        await #expect(throws: Boom.self) { try await two.run { throw Boom() } }
        // What the closed one's handle meets counts in memory alone.
        await #expect(throws: Boom.self) { try await one.run { throw Boom() } }
        #expect(try await witness.ask("look users").number("counted") == 2)
        #expect(try await witness.ask("workers").number("count") == 2)
        try await witness.ask("fail users")
        await #expect(throws: CircuitOpenError.self) { try await two.run { 3 } }
        // Memory begins with what this process has read last.
        await #expect(throws: CircuitOpenError.self) { try await one.run { 4 } }
        guard case .healthy = second.health, case .closed = first.health else {
            Issue.record("\(first.health), \(second.health)")
            return
        }
    }

    @Test(arguments: [("close", 25), ("replace", 6), ("remove-log", 6), ("remove-all", 6)])
    func callsSurviveAMovingGround(what: String, rounds: Int) async throws {
        let place = try Workplace.here
        if what == "replace" {
            for round in 0..<rounds {
                let maker = try place.worker()
                try await maker.ask("open \(place.store).other\(round)")
                try await maker.ask("breaker other\(round)")
                #expect(await maker.quit() == 0)
            }
        }
        let worker = try place.worker()
        let reply = try await worker.ask("storm \(place.store) \(what) \(rounds)")
        #expect(reply["strange"] == "0")
        #expect((reply.number("ran") ?? 0) > 32 * rounds)
        // A commit notices what the last round did. The store comes back by itself, and works with the file that is
        // there: a report counts there that was given while the store was healthy, and found it so afterwards.
        try await worker.ask("breaker after failures=2")
        var isAcknowledged = false
        while !isAcknowledged {
            try Task.checkCancellation()
            guard try await worker.ask("health")["health"] == "healthy" else { continue }
            try await worker.ask("fail after")
            isAcknowledged = try await worker.ask("health")["health"] == "healthy"
        }
        let other = try await place.openWorker()
        try await other.ask("breaker after failures=2")
        try await other.ask("fail after")
        #expect(try await worker.ask("call after")["cause"] == "open")
        #expect(await worker.quit() == 0)
    }

    @Test func childOfForkLeavesTheParentAlone() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=2")
        #expect(try await workers[0].ask("call users").number("ran") == 1)
        let id = "SELECT id FROM worker WHERE pid = \(workers[0].pid)"
        let row = try #require(try await workers[1].ask("query \(place.store) \(id)").number("row"))
        for _ in 0..<3 {
            let reply = try await workers[0].ask("fork users")
            // Two failures open the child's circuit in memory; nobody else hears of them.
            #expect(reply["ran"] == "3")
            #expect(reply["refused"] == "1")
            #expect(reply["codes"] == Array(repeating: "forked", count: 7).joined(separator: ","))
            #expect(reply["health"] == "forked")
            #expect(reply["exit"] == "0")
            #expect(try await workers[1].ask("look users").number("counted") == 0)
            #expect(try await workers[1].ask("locked \(place.store) \(row)")["locked"] == "1")
            #expect(try await workers[1].ask("workers").number("count") == 2)
            #expect(try await workers[1].ask("look users").number("workers") == 2)
        }
        // The parent goes on as before.
        try await workers[0].ask("fail users 2")
        #expect(try await workers[1].ask("call users")["cause"] == "open")
        #expect(await workers[0].quit() == 0)
        #expect(try await workers[1].ask("locked \(place.store) \(row)")["locked"] == "0")
        #expect(try await workers[1].ask("workers").number("count") == 1)
    }

    /// Whether its parent has the store open or not.
    @Test(arguments: [true, false]) func aChildOfForkClosesTheStoreThatItOpened(parentHasIt: Bool) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=100")
        if !parentHasIt { try await workers[0].ask("close") }
        let workersBefore = parentHasIt ? 2 : 1
        for round in 1...3 {
            let reply = try await workers[0].ask("fork-anew \(place.store) users failures=100")
            #expect(reply["healthy"] == "true", "\(reply)")
            #expect(reply["was-locked"] == "1")
            #expect(reply["locked"] == "0")
            #expect(reply["threads"] == "0")
            // Where SQLite believes that the parent's connections are this process's, it keeps descriptors for the next
            // one.
            if !parentHasIt { #expect(reply["left"] == "0") }
            #expect(reply["left-by-second"] == "0")
            #expect(reply["exit"] == "0")
            #expect(try await workers[1].ask("look users").number("counted") == 2 * round)
            #expect(try await workers[1].ask("workers").number("count") == workersBefore)
        }
    }
}
