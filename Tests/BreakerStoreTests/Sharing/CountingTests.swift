import BreakerTestSupport
import Testing

/// Failures of different processes count together; no process counts one twice or misses one.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CountingTests {
    @Test func lastOfAllFailuresTripsOnce() async throws {
        let workers = try await Workplace.here.openWorkers(8)
        try await workers.ask("breaker users failures=1600")
        // The first of them counts alone, or two that come last could both be one too many.
        #expect(try await workers[0].ask("fail-tasks users 199").number("failed") == 199)
        for look in try await workers.ask("look users") {
            #expect(look["state"] == "closed")
            #expect(look.number("failures") == 199)
            #expect(look.number("counted") == 199)
        }
        let replies = try await workers.ask { "fail-tasks users \($0 == 0 ? 1 : 200)" }
        // One that was counted twice would open the circuit too early, and the last calls would be refused.
        #expect(replies.reduce(0) { $0 + ($1.number("failed") ?? 0) } == 1_401)
        for look in try await workers.ask("look users") { #expect(look["state"] == "open") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy") }
    }

    @Test func manyFailuresTripOnce() async throws {
        let workers = try await Workplace.here.openWorkers(8)
        try await workers.ask("breaker users failures=5")
        let replies = try await workers.ask("fail-tasks users 200")
        // Some of them were still under way when the circuit opened, the rest was refused.
        #expect(replies.reduce(0) { $0 + ($1.number("failed") ?? 0) } >= 5)
        for reply in replies { #expect((reply.number("failed") ?? 0) + (reply.number("refused") ?? 0) == 200) }
        for look in try await workers.ask("look users") { #expect(look["state"] == "open") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
    }

    @Test func acknowledgedReportOutlivesItsProcess() async throws {
        let place = try Workplace.here
        let witness = try await place.openWorker()
        try await witness.ask("breaker users failures=100")
        for round in 1...8 {
            let victim = try await place.openWorker()
            try await victim.ask("breaker users failures=100")
            await #expect(throws: WorkerProcess.Failure.self) { try await victim.ask("fail-and-die users") }
            #expect(await victim.end() == -9)
            #expect(try await witness.ask("look users").number("failures") == round)
        }
    }

    @Test func stoppedProcessHoldsNobodyUp() async throws {
        let workers = try await Workplace.here.openWorkers(2)
        try await workers.ask("breaker users failures=3")
        try await workers[0].ask("fail users 2")
        workers[0].stop()
        #expect(try await workers[1].ask("fail users").number("failed") == 1)
        #expect(try await workers[1].ask("call users").number("refused") == 1)
        workers[0].goOn()
        #expect(try await workers[0].ask("call users").number("refused") == 1)
    }
}
