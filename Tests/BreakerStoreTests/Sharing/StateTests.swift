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

    @Test(arguments: [true, false])
    func restartWaitsForWhatRemains(killed: Bool) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1 recovery=30")
        try await first.ask("fail users")
        if killed { await first.die() } else { #expect(await first.quit() == 0) }
        place.clock.advance(by: .seconds(29))

        let second = try await place.openWorker()
        try await second.ask("breaker users failures=1 recovery=30")
        #expect(try await second.ask("call users")["wait"] == "1000000")
        place.clock.advance(by: .microseconds(999_999))
        #expect(try await second.ask("call users")["wait"] == "1")
        place.clock.advance(by: .microseconds(1))
        #expect(try await second.ask("call users").number("ran") == 1)
        #expect(try await second.ask("look users")["state"] == "closed")
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

    @Test func oneProbeOfEightProcesses() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(8)
        try await workers.ask("breaker users failures=1")
        for round in 1...20 {
            try await workers[0].ask("fail users")
            place.clock.advance(by: .seconds(30))
            let replies = try await workers.ask("admit users")
            let admitted = replies.indices.filter { replies[$0].number("ran") == 1 }
            #expect(admitted.count == 1, "round \(round): \(replies)")
            #expect(replies.count { $0["cause"] == "probing" } == 7, "round \(round): \(replies)")
            for prober in admitted { try await workers[prober].ask("succeed") }
            #expect(try await workers[0].ask("look users")["state"] == "closed")
        }
        #expect(try await workers[0].ask("history users probing").number("count") == 20)
    }

    @Test func probeOfADeadProcessIsFree() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("admit users").number("ran") == 1)
        #expect(try await workers[1].ask("admit users")["cause"] == "probing")
        await workers[0].die()
        #expect(try await workers[1].ask("admit users").number("ran") == 1)
        #expect(try await workers[2].ask("admit users")["cause"] == "probing")
        // A lease that nobody ends is over by time.
        place.clock.advance(by: .seconds(31))
        #expect(try await workers[2].ask("admit users").number("ran") == 1)
        let before = try await workers[2].ask("look users")
        try await workers[1].ask("failed")
        #expect(try await workers[2].ask("look users") == before)
    }
}
