import BreakerTestSupport
import Testing

/// Many circuits, many processes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CrowdTests {
    @Test func hundredProcessesOpenAndCloseAtOnce() async throws {
        let place = try Workplace.here
        let workers = try (0..<100).map { _ in try place.worker() }
        for _ in 0..<2 {
            // No file yet in the first round: who creates it is decided among them.
            try await workers.ask("open \(place.store)")
            try await workers.ask("close")
        }
        try await workers.ask("open \(place.store)")
        try await workers.ask { $0.isMultiple(of: 2) ? "breaker common" : "breaker odd\($0)" }
        // Half of them leave, and come back while the other half goes.
        try await workers.ask { $0.isMultiple(of: 2) ? "health" : "close" }
        let counts = "SELECT (SELECT count(*) FROM worker), (SELECT count(*) FROM registration)"
        let witness = try place.worker()
        #expect(try await witness.ask("query \(place.store) \(counts)")["row"] == "50,50")
        try await workers.ask { $0.isMultiple(of: 2) ? "close" : "open \(place.store)" }
        try await workers.ask { $0.isMultiple(of: 2) ? "open \(place.store)" : "breaker common" }
        try await workers.ask("breaker all")
        #expect(try await witness.ask("query \(place.store) \(counts)")["row"] == "100,150")
        #expect(try await workers[99].ask("workers").number("count") == 100)
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy") }

        try await workers.ask("close")
        #expect(try await witness.ask("query \(place.store) \(counts)")["row"] == "0,0")
        let circuits = "SELECT count(*) FROM circuit"
        #expect(try await witness.ask("query \(place.store) \(circuits)")["row"] == "52")
    }
}
