import Testing

@testable import BreakerStore

@Suite(.timeLimit(.minutes(10))) struct IdleTests {
    /// Circuits of stores that have gone; those that are open before their time, held or in use stay.
    @Test func forgetsWhatNobodyUses() async throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        configuration.forgetIdleAfter = .seconds(3_600)
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let first = try CircuitStore(path: directory + "/a.db", configuration: configuration)
        for (name, recovery) in [
            ("idle", 60), ("open", 10_000), ("due", 60), ("half", 60), ("held", 60), ("was held", 60),
        ] {
            let breaker = try first.breaker(
                .init(name: name, recoveryTimeout: .seconds(recovery), maxFailures: 1, rollingWindow: .seconds(60)))
            if recovery != 60 || name == "due" || name == "half" { await breaker.recordFailure() }
        }
        try await first.hold("held", .closed)
        try await first.hold("was held", .closed, for: .seconds(30))
        clock.advance(by: .seconds(60))
        // Its process ends while the probe is under way.
        let probe = try await first.breaker(named: "half").admit()
        first.close()
        withExtendedLifetime(probe) {}
        #expect(Foreign.value(directory + "/a.db", "SELECT state FROM circuit WHERE name = 'half'") == "half-open")
        // Another process has died during its probe, with a lease that never ends.
        Foreign.run(
            directory + "/a.db",
            "INSERT INTO probe SELECT id, 1, 4294967296, 'x', 1, since, 9000000000000000 FROM circuit WHERE name = 'half'"
        )
        let second = try CircuitStore(path: directory + "/a.db", configuration: configuration)
        defer { second.close() }
        let used = try second.breaker(.init(name: "used"))
        clock.advance(by: .seconds(3_599))
        second.backend.core?.thread.wake()
        #expect(try await second.circuits().map(\.name) == ["due", "half", "held", "idle", "open", "used", "was held"])
        clock.advance(by: .seconds(3_600))
        #expect(await eventually { (try? second.circuits().map(\.name)) == ["held", "open", "used"] })
        for (name, addition) in [("idle", ""), ("was held", ""), ("due", ", and due"), ("half", ", and half-open")] {
            let forgotten = try await second.history(of: name).first
            #expect(forgotten?.kind == .forgotten)
            #expect(forgotten?.reason == "unused for longer than forgetIdleAfter\(addition)")
        }
        // The time counts from the end of the recovery time, too.
        clock.advance(by: .seconds(2_900))
        second.backend.core?.requestMaintenance()
        #expect(try await second.circuit(named: "open")?.isDue == true)
        clock.advance(by: .seconds(4_600))
        second.backend.core?.requestMaintenance()
        #expect(await eventually { (try? second.circuits().map(\.name)) == ["held", "used"] })
        withExtendedLifetime(used) {}
    }
}
