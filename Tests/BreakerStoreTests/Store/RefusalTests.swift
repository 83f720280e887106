import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Refusals are counted in memory and told to the file now and then.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RefusalTests {
    /// The numbers of two processes, one of which leaves at once and one of which is still there.
    @Test func countOfAllProcessesIsInTheFile() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        #expect(try await workers[0].ask("call users 7").number("refused") == 7)
        #expect(try await workers[1].ask("call users 5").number("refused") == 5)
        #expect(await workers[0].quit() == 0)
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        let reader = try CircuitStore(path: place.store, configuration: configuration)
        // The one that is there tells of its own within seconds of the store's time. This reader is of another boot
        // than the board: what the file was told is all that it knows.
        #expect(
            await eventually {
                place.clock.advance(by: .seconds(600))
                return (try? reader.circuit(named: "users"))??.refusals == 12
            })
    }

    /// A refusal writes nothing: what the board has counted of all kinds is saved every ten minutes.
    @Test func totalsAreSavedAtMostEveryTenMinutes() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        try fixture.store.patiently { try $0.hold("a", .open) }
        let core = try #require(fixture.core)
        func refuse() { #expect(throws: CircuitOpenError.self) { try breaker.admit() } }
        refuse()
        core.publishAllCounts()
        core.saveCountersIfDue()
        fixture.clock.advance(by: .seconds(600))
        core.saveCountersIfDue()
        let path = fixture.store.backend.file.path
        #expect(await eventually { Foreign.value(path, "SELECT sum(refused) FROM counters") == "1" })
        let before = fixture.commits
        refuse()
        core.publishAllCounts()
        for _ in 0..<599 {
            fixture.clock.advance(by: .seconds(1))
            core.saveCountersIfDue()
        }
        #expect(fixture.commits == before)
        // The board has it all the same.
        #expect(breaker.totals.refused == 2)
    }

    @Test func aLockedFileGetsTheReportLater() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(100))
        let breaker = try fixture.breaker()
        try fixture.store.patiently { try $0.hold("a", .open) }
        let core = try #require(fixture.core)
        let lock = try WriteLock(fixture.store)
        #expect(throws: CircuitOpenError.self) { try breaker.admit() }
        // The store's thread has tried in vain: then it is degraded.
        #expect(
            await eventually {
                fixture.clock.advance(by: .seconds(600))
                core.thread.wake()
                return core.isDegraded
            })
        try lock.release()
        #expect(await eventually { fixture.isHealthy })
        let path = fixture.store.backend.file.path
        #expect(
            await eventually {
                fixture.clock.advance(by: .seconds(600))
                core.thread.wake()
                return Foreign.value(path, "SELECT sum(refused) FROM counters") == "1"
            })
    }

    /// A file may say anything of boards that are gone.
    @Test func numberOfTheFileNeverOverflows() throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        try fixture.store.patiently { try $0.hold("a", .open) }
        Foreign.run(
            fixture.store.backend.file.path,
            "INSERT INTO counters SELECT id, 0, 0, 0, 0, 0, 9223372036854775807 FROM circuit", keepsLog: true)
        #expect(throws: CircuitOpenError.self) { try breaker.admit() }
        #expect(breaker.totals.refused == 1 << 63)
        #expect(try fixture.store.circuit(named: "a")?.refusals == .max)
    }
}
