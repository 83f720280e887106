import Testing

@testable import BreakerStore

@Suite(.timeLimit(.minutes(10))) struct IdleTests {
    /// Circuits of stores that have gone; those that are open, held or in use stay.
    @Test func forgetsWhatNobodyUses() async throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        configuration.forgetIdleAfter = .seconds(3_600)
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let first = try CircuitStore(path: directory + "/a.db", configuration: configuration)
        for name in ["idle", "open", "held"] {
            _ = try first.breaker(
                .init(name: name, recoveryTimeout: .seconds(60), maxFailures: 1, rollingWindow: .seconds(60)))
        }
        try await first.breaker(
            .init(name: "open", recoveryTimeout: .seconds(60), maxFailures: 1, rollingWindow: .seconds(60))
        ).recordFailure()
        try await first.hold("held", .closed)
        first.close()
        let second = try CircuitStore(path: directory + "/a.db", configuration: configuration)
        defer { second.close() }
        let used = try second.breaker(.init(name: "used"))
        clock.advance(by: .seconds(3_599))
        second.backend.core?.thread.wake()
        #expect(try await second.circuits().map(\.name) == ["held", "idle", "open", "used"])
        clock.advance(by: .seconds(3_600))
        #expect(await eventually { (try? second.circuits().map(\.name)) == ["held", "open", "used"] })
        #expect(try await second.history(of: "idle").first?.kind == .forgotten)
        withExtendedLifetime(used) {}
    }
}
