import BreakerTestSupport
import Testing

/// What one process does to a circuit is so for all, at once and after a restart.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StateTests {
    @Test func openingIsSeenByTheNextCallElsewhere() async throws {
        let workers = try await Workplace.here.openWorkers(2)
        let rounds = 100
        try await workers.ask("breakers c \(rounds) failures=1")
        for round in 0..<rounds {
            // So that B has an answer at hand that A then makes wrong.
            #expect(try await workers[1].ask("call c\(round) 3").number("ran") == 3)
            #expect(try await workers[0].ask("fail c\(round)").number("failed") == 1)
            let reply = try await workers[1].ask("call c\(round)")
            #expect(reply.description == "ran=0 failed=0 refused=1 cause=open wait=30000000")
        }
    }

    @Test(arguments: ["", "failures=7 window=90 recovery=10"])
    func joiningResetsNothing(config: String) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breakers c 3")
        try await first.ask("fail c1 3")
        try await first.ask("fail c2 5")
        let names = ["c0", "c1", "c2"]
        var before: [Reply] = []
        for name in names { before.append(try await first.ask("look \(name)")) }

        let second = try await place.openWorker()
        try await second.ask("breakers c 3 \(config)")
        for (name, before) in zip(names, before) {
            for worker in [first, second] {
                let after = try await worker.ask("look \(name)")
                #expect(after.description == before.description.replacing("workers=1", with: "workers=2"))
            }
        }
    }
}
