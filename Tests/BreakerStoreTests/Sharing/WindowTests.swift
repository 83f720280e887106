import BreakerTestSupport
import Testing

/// Which failures count, whoever reports them.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct WindowTests {
    @Test(arguments: [(60_000_000, "open"), (60_000_001, "closed")])
    func failureAtTheEdgeCounts(age: Int64, state: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=3 window=60")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .microseconds(age))
        #expect(try await workers[1].ask("look users").number("counted") == (state == "open" ? 1 : 0))
        try await workers[1].ask("fail users 2")
        #expect(try await workers[0].ask("look users")["state"] == state)
    }
}
