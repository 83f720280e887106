import BreakerTestSupport
import Testing

/// Which failures count, whoever reports them.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct WindowTests {
    @Test func sparseFailuresNeverStopABurst() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=5 window=60")
        for number in 0..<20 {
            #expect(try await workers[number % 2].ask("fail users").number("failed") == 1)
            place.clock.advance(by: .seconds(61))
        }
        for number in 1...5 {
            #expect(try await workers[number % 2].ask("fail users").number("failed") == 1)
            let look = try await workers[0].ask("look users")
            #expect(look["state"] == (number < 5 ? "closed" : "open"), "burst of \(number)")
        }
    }

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
