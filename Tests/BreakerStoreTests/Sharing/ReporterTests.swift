import BreakerTestSupport
import Testing

/// `minimumReporters`: a circuit trips only when so many different workers saw failures.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ReporterTests {
    /// However often it comes back, all that have died are one.
    @Test func aWorkerInACrashLoopCountsOnce() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=5 reporters=3")
        for _ in 0..<10 {
            let victim = try await place.openWorker()
            try await victim.ask("breaker users failures=5 reporters=3")
            await #expect(throws: WorkerProcess.Failure.self) { try await victim.ask("fail-and-die users") }
            #expect(await victim.end() == -9)
            #expect(try await workers[1].ask("look users")["state"] == "closed")
        }
        #expect(try await workers[0].ask("fail users 10").number("failed") == 10)
        #expect(try await workers[1].ask("look users")["state"] == "closed")
        #expect(try await workers[1].ask("fail users").number("failed") == 1)
        for reply in try await workers.ask("call users") { #expect(reply["cause"] == "open") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
    }
}
