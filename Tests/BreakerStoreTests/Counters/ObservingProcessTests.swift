import BreakerTestSupport
import Testing

/// Observing circuits in several processes, one of them of a release that does not know of observing.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ObservingProcessTests {
    private static let rules = ["failures=3", "consecutive=3", "rate=0.5 minimum=3"]

    @Test(arguments: Self.rules) func allCallsRun(rules: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(rules) recovery=30 observing")
        try await workers[0].ask("fail users 3")
        try await workers[0].ask("until users open")
        for reply in try await workers.ask({ $0 == 0 ? "fail users 497" : "fail users 500" }) {
            #expect(reply.number("failed") ?? 0 >= 497 && reply.number("refused") == 0, "\(reply)")
        }
        let look = try await workers[1].ask("until users open")
        #expect(look["permitted"] == "true", "\(look)")
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
        let totals = try await self.totals(of: 1_000, in: workers[1], place)
        #expect(totals.number("failed") == 1_000, "\(totals)")
        #expect(try #require(totals.number("refused")) >= 900, "\(totals)")
    }

    /// The totals, once so many failures are among them.
    ///
    /// A worker to which the board was late moves its failures there within two seconds.
    private func totals(of failures: Int, in worker: WorkerProcess, _ place: Workplace) async throws -> Reply {
        let end = ContinuousClock.now + .seconds(300)
        while true {
            let totals = try await worker.ask("totals users")
            if totals.number("failed") == failures || ContinuousClock.now > end { return totals }
            place.clock.advance(by: .milliseconds(100))
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
