import Dispatch
import Testing

@testable import BreakerStore

/// What becomes of calls once the store is closed or dropped.
@Suite(.timeLimit(.minutes(10))) struct CloseTests {
    private func isClosed(_ store: CircuitStore) -> Bool {
        switch store.health {
        case .closed: true
        case .healthy, .degraded: false
        }
    }

    @Test func laterCallsUseTheFallback() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        fixture.store.close()
        fixture.store.close()
        #expect(self.isClosed(fixture.store))
        #expect(try await breaker.run { 1 } == 1)
        #expect(try synchronously { try breaker.run { 2 } } == 2)
        for _ in 0..<3 { _ = try? await breaker.run { throw CallFailure() } }
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.cause == .open)
        #expect(error?.retryAfter == .seconds(30))
        #expect(!breaker.isCallPermitted)
        fixture.clock.advance(by: .seconds(30))
        try await breaker.run {}
        #expect(breaker.state == .closed)
        #expect(throws: BreakerStoreError.self) { _ = try fixture.breaker("b") }
        let refusal = #expect(throws: BreakerStoreError.self) { _ = try fixture.store.circuits() }
        #expect(refusal?.code == .closed)
    }

    @Test func callsInFlightFinish() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        let permit = try await breaker.admit()
        let store = fixture.store
        await #expect(throws: CallFailure.self) {
            try await breaker.run {
                store.close()
                throw CallFailure()
            }
        }
        await permit.fail()
        synchronously { breaker.recordFailure() }
        #expect(self.isClosed(store))
    }

    @Test func closingAmidManyCallsHarmsNone() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        let runs = CircuitCounters()
        let store = fixture.store
        await withTaskGroup { group in
            for number in 0..<32 {
                group.addTask {
                    for _ in 0..<10 {
                        _ = try? await breaker.run {
                            runs.add()
                            throw CallFailure()
                        }
                    }
                    if number == 16 { store.close() }
                }
            }
        }
        #expect(runs.count == 320)
        #expect(self.isClosed(store))
    }

    @Test func whatWaitsIsCommittedFirst() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/circuits.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        let breaker = try store.breaker(.init(name: "a"))
        let core = try #require(store.backend.core)
        let locks = HeldLocks(.lead, of: core)
        // A synchronous caller leads, and waits for the session; others wait behind it.
        async let leader: Void = withCheckedContinuation { continuation in
            DispatchQueue(label: "leader").async {
                breaker.recordFailure()
                continuation.resume()
            }
        }
        #expect(await eventually { core.waitingCount == 1 })
        let others = (0..<2).map { _ in Task { await breaker.recordFailure() } }
        #expect(await eventually { core.waitingCount == 3 })
        async let closing: Void = withCheckedContinuation { continuation in
            DispatchQueue(label: "closer").async {
                store.close()
                continuation.resume()
            }
        }
        #expect(await eventually { core.waitingCount == 4 })
        locks.letGo()
        await leader
        for other in others { await other.value }
        await closing
        let again = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { again.close() }
        await #expect(try again.circuit(named: "a")?.failures.count == 3)
    }

    /// The next process would have to live with the whole log; a program that runs for a moment would never copy it.
    @Test func aLongLogIsCopiedAtTheEnd() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/circuits.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        let insertion = "INSERT INTO event (circuit, kind, at) VALUES ('a', 'reset', 0);"
        Foreign.run(path, String(repeating: insertion, count: 300), keepsLog: true)
        store.close()
        let connection = try Connection(path: path, access: .readWrite)
        _ = try connection.integer("SELECT count(*) FROM event")
        let frames = connection.walIndex()?.pendingFrames
        #expect(frames ?? .max < 200)
    }

    /// One asked for other settings than the first, which was closed meanwhile.
    @Test func aStoreThatIsRefusedKeepsNothingOpen() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/circuits.db"
        var other = CircuitStore.Configuration()
        other.durability = .everyCommit
        for _ in 0..<200 {
            let store = try CircuitStore(path: path)
            weak let core = store.backend.core
            async let refused: Void = { [other] in _ = try? CircuitStore(path: path, configuration: other) }()
            store.close()
            await refused
            #expect(await eventually { core == nil || core?.isClosed == true })
        }
    }

    @Test func handlesKeepTheStoreAlive() async throws {
        let breaker: CircuitBreaker = try {
            try StoreFixture.makeStore().breaker(.init(name: "a"))
        }()
        await breaker.recordFailure()
        #expect(breaker.failureCount == 1)
        breaker.store.close()
    }

    @Test func aDroppedStoreLeavesItsRow() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/circuits.db"
        weak var core: StoreCore?
        do {
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            _ = try store.breaker(.init(name: "a"))
            core = store.backend.core
            #expect(core != nil)
        }
        #expect(await eventually { core == nil })
        let connection = try Connection(path: path, access: .readWrite)
        #expect(try connection.integer("SELECT count(*) FROM worker") == 0)
        #expect(try connection.integer("SELECT count(*) FROM circuit") == 1)
    }

    @Test func closingOneStoreHarmsNoOtherOnTheFile() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        let other = try CircuitStore(
            path: fixture.store.backend.file.path, configuration: fixture.store.configuration)
        let second = try other.breaker(breaker.config)
        other.close()
        await breaker.recordFailure()
        #expect(breaker.failureCount == 1)
        // Memory begins with the failures of this process, whichever of its stores has reported them.
        #expect(second.failureCount == 1)
        #expect(fixture.isHealthy)
    }
}
