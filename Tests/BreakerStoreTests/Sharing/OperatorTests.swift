import BreakerStore
import BreakerTestSupport
import Testing

/// Many operators at once, while the service fails.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OperatorTests {
    @Test func eachChangeIsOneEventWithItsAuthor() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(16)
        try await workers.ask("breaker users failures=2")
        let times = 30
        // None of the operators' commands may fail; a refused call is no error.
        try await workers.ask { $0 < 8 ? "operate users operator\($0) \(times)" : "fail users 100" }

        let history = try await workers[0].history()
        #expect(HeardWalk(history).faults.isEmpty)
        for (index, worker) in workers[..<8].enumerated() {
            let own = history.filter { $0.by == "operator\(index)" }
            #expect(own.map(\.reason) == (0..<times).map { "\($0)" })
            for (number, event) in own.enumerated() {
                #expect(event.kind == (number % 3 == 0 ? .reset : .held))
                #expect(event.to == ["closed", "held-open", "held-closed"][number % 3])
                #expect(event.pid == "\(worker.pid)")
            }
        }
        for event in history where event.by.isEmpty {
            #expect(event.kind == .tripped)
            #expect(workers[8...].contains { "\($0.pid)" == event.pid })
        }
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy") }
    }
}
