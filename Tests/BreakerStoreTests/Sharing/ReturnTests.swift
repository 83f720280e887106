import BreakerTestSupport
import Testing

/// The rounds of probes, and the failures among them, are those of all processes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ReturnTests {
    private static func dueWorkers(_ rule: String, _ count: Int) async throws -> (Workplace, [WorkerProcess]) {
        let place = try Workplace.here
        let workers = try await place.openWorkers(count)
        try await workers.ask("breaker users failures=1 \(rule)")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        return (place, workers)
    }

    @Test func roundsGrowOverProcesses() async throws {
        let (place, workers) = try await Self.dueWorkers("successes=7 growth=2", 5)
        var first = 0
        for size in [1, 2, 4] {
            // Each round begins in another process.
            let round = (0..<5).map { workers[(first + $0) % 5] }
            for prober in round.prefix(size) { #expect(try await prober.ask("begin users").number("ran") == 1) }
            #expect(try await round[size].ask("call users")["cause"] == "probing")
            #expect(try await round[size].ask("look users")["permitted"] == "false")
            #expect(try await round[0].ask("look users")["state"] == "half-open")
            for prober in round.prefix(size) { try await prober.ask("finish succeed") }
            first += 1
        }
        #expect(try await workers[0].ask("look users")["state"] == "closed")
        let events = "query \(place.store) SELECT group_concat(kind) FROM event WHERE circuit = 'users'"
        #expect(try await workers[0].ask(events)["row"] == "tripped,probing,closed")
    }

    /// Two of twenty may fail, in any of the processes; also after the processes that saw them were killed.
    @Test(arguments: [1, 3]) func failuresAddUpOverProcesses(failures: Int) async throws {
        let (place, workers) = try await Self.dueWorkers("successes=20 tolerated=0.1", 4)
        #expect(try await workers[0].ask("call users 5").number("ran") == 5)
        for number in 0..<min(failures, 2) {
            #expect(try await workers[number].ask("fail users").number("failed") == 1)
            #expect(try await workers[3].ask("look users")["state"] == "half-open")
            await workers[number].die()
        }
        let row = "query \(place.store) SELECT state, successes, probe_failures FROM circuit"
        #expect(try await workers[3].ask(row)["row"] == "half-open,5,\(min(failures, 2))")
        if failures == 3 {
            #expect(try await workers[2].ask("fail users").number("failed") == 1)
            #expect(try await workers[3].ask("call users")["cause"] == "open")
            #expect(try await workers[3].ask("look users").number("trips") == 2)
            #expect(try await workers[3].ask(row)["row"] == "open,0,0")
            place.clock.advance(by: .seconds(30))
            #expect(try await workers[3].ask("call users").number("ran") == 1)
            #expect(try await workers[3].ask(row)["row"] == "half-open,1,0")
        } else {
            #expect(try await workers[2].ask("call users 15").number("ran") == 15)
            #expect(try await workers[3].ask("look users")["state"] == "closed")
        }
        let count = "query \(place.store) SELECT count(*) FROM event WHERE kind = 'reopened'"
        #expect(try await workers[3].ask(count)["row"] == (failures == 3 ? "1" : "0"))
    }
}
