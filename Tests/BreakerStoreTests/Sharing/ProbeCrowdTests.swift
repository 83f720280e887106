import BreakerTestSupport
import Testing

/// The time has come, and all processes call at once.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ProbeCrowdTests {
    @Test(arguments: [1, 3])
    func exactlyTheLimitRuns(limit: Int) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(8)
        try await workers.ask("breaker users failures=1 limit=\(limit) successes=\(limit)")
        let path = place.directory + "/crowd"
        let crowd = try Crowd(path: path)
        for round in 0..<50 {
            #expect(try await workers[round % 8].ask("fail users").number("failed") == 1, "round \(round)")
            place.clock.advance(by: .seconds(30))
            crowd.clear()
            try await workers.ask("crowd \(path) users 8 16 \(round.isMultiple(of: 2) ? "run" : "permit")")
            try #require(crowd[.began] == limit, "round \(round)")
            #expect(crowd[.most] == limit)
            #expect(crowd[.refused] == 8 * 16 - limit)
            #expect(crowd[.strange] == 0)
        }
        let witness = workers[0]
        #expect(try await witness.ask("look users")["state"] == "closed")
        for (kind, count) in [("tripped", 50), ("probing", 50), ("closed", 50), ("reopened", 0), ("probeExpired", 0)] {
            #expect(try await witness.ask("history users \(kind)").number("count") == count, "\(kind)")
        }
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy") }
    }

    /// Probes come and go: never more than three at a time, until the fifth ends.
    @Test(arguments: [(failing: 0, state: "closed", kind: "closed"), (failing: 5, state: "open", kind: "reopened")])
    func fifthProbeDecides(failing: Int, state: String, kind: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(8)
        try await workers.ask("breaker users failures=1 limit=3 successes=5")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        let path = place.directory + "/crowd"
        let crowd = try Crowd(path: path)
        let witness = try await place.openWorker()
        try await witness.ask("breaker users failures=1 limit=3 successes=5")

        // Four succeed. All that follow hang, and one of the next three may be the fifth.
        crowd[.mayEnd] = 4
        async let pressed = workers.ask("press \(path) users 16 \(failing)")
        await crowd.wait { crowd[.began] >= 7 }
        // They have all the slots: everybody else is refused, again and again.
        let refused = crowd[.refused]
        await crowd.wait { crowd[.refused] >= refused + 8 * 16 || crowd[.began] > 7 }
        #expect(crowd[.began] == 7)
        #expect(crowd[.running] == 3)
        #expect(try await witness.ask("call users")["cause"] == "probing")
        let row = "query \(place.store) SELECT state, successes, (SELECT count(*) FROM probe) FROM circuit"
        #expect(try await witness.ask(row)["row"] == "half-open,4,3")

        crowd[.isOver] = 1
        await crowd.wait { crowd[.left] + crowd[.running] >= 8 * 16 }
        crowd[.mayEnd] = 5
        while try await witness.ask("look users")["state"] == "half-open" { try Task.checkCancellation() }
        let decided = try await witness.ask("look users")
        #expect(decided["state"] == state)
        #expect(decided["trips"] == (failing == 0 ? "0" : "2"))
        // The last two come too late, whatever they say.
        crowd[.mayEnd] = .max
        _ = try await pressed
        #expect(try await witness.ask("look users") == decided)
        #expect(crowd[.most] == 3)
        #expect(crowd[.strange] == 0)
        for other in ["probing", "closed", "reopened"] {
            let count = other == kind || other == "probing" ? 1 : 0
            #expect(try await witness.ask("history users \(other)").number("count") == count, "\(other)")
        }
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy") }
    }
}
