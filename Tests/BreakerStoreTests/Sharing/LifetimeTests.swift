import BreakerTestSupport
import Testing

/// How long a store lives, as other processes see it.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LifetimeTests {
    @Test func handlesOutliveTheVariable() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breakers c 2 failures=3")
        try await workers[0].ask("drop store")
        try await workers[0].ask("fail c0 3")
        #expect(try await workers[1].ask("call c0")["cause"] == "open")
        #expect(try await workers[1].ask("look c1").number("workers") == 2)
        // The last handle takes the store with it.
        try await workers[0].ask("drop handles")
        while try await workers[1].ask("workers").number("count") != 1 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await workers[1].ask("look c1").number("workers") == 1)
    }
}
