import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a snapshot shows of probes, and who may take a slot.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LiveProbeTests {
    @Test func snapshotLeavesOutWhoseLeaseIsOver() async throws {
        let fixture = try StoreFixture()
        let breaker = try await fixture.dueBreaker(probes: ProbeRule(lease: .seconds(5)))
        let permit = try await breaker.admit()
        #expect(try await fixture.store.circuit(named: "a")?.probes.count == 1)
        fixture.clock.advance(by: .seconds(5))
        #expect(try await fixture.store.circuit(named: "a")?.probes.isEmpty == true)
        permit.discard()
    }

    @Test func snapshotLeavesOutTheDead() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1 recovery=30")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        try await workers[0].ask("admit users")
        #expect(try await workers[1].ask("look users").number("probes") == 1)
        await workers[0].die()
        #expect(try await workers[1].ask("look users").number("probes") == 0)
    }

    /// Others lock another file by now: they would take this worker for dead, and its slot for free.
    @Test func nobodyTakesASlotWithoutTheLockFile() async throws {
        let fixture = try StoreFixture()
        let breaker = try await fixture.dueBreaker()
        Files.remove(try #require(fixture.core).file.lock)
        let permit = try await breaker.admit()
        #expect(await eventually { (try? fixture.store.circuit(named: "a"))??.probes.isEmpty == true })
        permit.discard()
    }
}
