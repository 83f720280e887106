import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Refusals are counted in memory and told to the file now and then.
@Suite(.ownDirectory, .timeLimit(.minutes(1))) struct RefusalTests {
    /// The numbers of two processes, one of which leaves at once and one of which is still there.
    @Test func countOfAllProcessesIsInTheFile() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        #expect(try await workers[0].ask("call users 7").number("refused") == 7)
        #expect(try await workers[1].ask("call users 5").number("refused") == 5)
        #expect(await workers[0].quit() == 0)
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        let reader = try CircuitStore(path: place.store, configuration: configuration)
        // The one that is there tells of its own within seconds of the store's time.
        place.clock.advance(by: .seconds(5))
        #expect(await eventually { (try? reader.circuit(named: "users"))??.refusals == 12 })
    }

    @Test func fileIsToldAtMostEveryFiveSeconds() throws {
        let refusals = Refusals()
        #expect(refusals.isDue(at: 0))
        _ = refusals.take(at: 1)
        #expect(!refusals.isDue(at: 5_000_000))
        #expect(refusals.isDue(at: 5_000_001))
    }

    @Test func whatCouldNotBeToldIsToldLater() throws {
        let refusals = Refusals()
        let name = CircuitName("a")
        refusals.counter(of: name).add()
        let taken = refusals.take(at: 0)
        refusals.counter(of: name).add()
        refusals.putBack(taken)
        #expect(refusals.take(at: 1) == [name: 2])
        #expect(refusals.take(at: 2) == [:])
    }

    @Test func fileThatIsLockedIsToldLater() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(1))
        let breaker = try fixture.breaker()
        try fixture.store.patiently { try $0.hold("a", .open) }
        let core = try #require(fixture.core)
        let lock = try WriteLock(fixture.store)
        #expect(throws: CircuitOpenError.self) { try breaker.admit() }
        fixture.clock.advance(by: .seconds(5))
        core.thread.wake()
        // The store's thread has tried in vain: then it is degraded.
        #expect(await eventually { core.isDegraded })
        try lock.release()
        #expect(await eventually { fixture.isHealthy })
        fixture.clock.advance(by: .seconds(5))
        core.thread.wake()
        #expect(await eventually { (try? fixture.store.circuit(named: "a"))??.refusals == 1 })
    }

    @Test func numberOfTheFileNeverOverflows() throws {
        let fixture = try StoreFixture()
        _ = try fixture.breaker()
        let file = try #require(fixture.core).file
        let database = try Database.sharing(file, as: FileIdentity(of: file))
        let name = CircuitName("a")
        try database.add(refusals: [name: .max])
        try database.add(refusals: [name: .max])
        #expect(try fixture.store.circuit(named: "a")?.refusals == .max)
    }
}
