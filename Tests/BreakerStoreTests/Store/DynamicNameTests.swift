import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

/// A service that has a circuit for each tenant, and asks the store for the handle at each request.
@Suite(.timeLimit(.minutes(10))) struct DynamicNameTests {
    private let clock = ManualHostClock()

    private func store(_ path: String, forgetIdleAfter: Duration? = nil) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = self.clock
        configuration.busyTimeout = .hangLimit
        configuration.forgetIdleAfter = forgetIdleAfter
        return try CircuitStore(path: path, configuration: configuration)
    }

    private func workers(_ store: CircuitStore, _ name: String) -> Int? {
        (try? store.circuit(named: name))?.map(\.workers) ?? nil
    }

    /// Waits until the store's thread has seen the time.
    private func pass(_ time: Duration, _ store: CircuitStore) async throws {
        self.clock.advance(by: time)
        let core = try #require(store.backend.core)
        core.requestMaintenance()
        let looks = Locked(false)
        // The thread looks around before it leads again.
        core.post(until: Deadline(after: .hangLimit)) { _ in looks.withLock { $0 = true } }
        #expect(await eventually { looks.withLock { $0 } })
    }

    @Test func isUnregisteredOnceItsHandlesAreGoneForAMinute() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db")
        defer { store.close() }
        _ = try store.breaker(.init(name: "gone"))
        let kept = try store.breaker(.init(name: "kept"))
        try await self.pass(.seconds(59), store)
        #expect(self.workers(store, "gone") == 1)
        try await self.pass(.seconds(1), store)
        #expect(await eventually { self.workers(store, "gone") == 0 })
        #expect(self.workers(store, "kept") == 1)
        #expect(store.backend.core?.circuits.all.map(\.name) == ["kept"])
        #expect(kept.isCallPermitted)
        // It is registered again when it is asked for.
        _ = try store.breaker(.init(name: "gone"))
        #expect(self.workers(store, "gone") == 1)
    }

    /// Each request has a handle for a moment.
    @Test func staysRegisteredWhileRequestsAskForIt() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db")
        defer { store.close() }
        for _ in 0..<6 {
            _ = try store.breaker(.init(name: "a"))
            try await self.pass(.seconds(59), store)
            #expect(store.backend.core?.circuits.all.count == 1)
        }
        #expect(self.workers(store, "a") == 1)
    }

    /// Known names cost no commit.
    @Test func aKnownNameIsNotWritten() throws {
        let fixture = try StoreFixture()
        let first = try fixture.breaker()
        let before = fixture.commits
        for _ in 0..<100 { #expect(try fixture.breaker() == first) }
        #expect(fixture.commits == before)
    }

    @Test func isLeftToAnotherStoreOfTheProcess() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db")
        let other = try self.store(directory + "/a.db")
        defer {
            store.close()
            other.close()
        }
        _ = try store.breaker(.init(name: "a"))
        let kept = try other.breaker(.init(name: "a"))
        try await self.pass(.seconds(61), store)
        try await self.pass(.seconds(61), store)
        #expect(self.workers(store, "a") == 1)
        #expect(store.backend.core?.circuits.all.count == 1)
        withExtendedLifetime(kept) {}
    }

    /// Of a circuit whose calls all came while memory guarded, this process has read nothing.
    @Test func callsFromBeforeTheFirstReadAreReportedFirst() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        Files.write(Array("no database".utf8), to: path)
        var configuration = CircuitStore.Configuration()
        configuration.clock = self.clock
        configuration.busyTimeout = .hangLimit
        configuration.whenUnavailable = .degrade
        configuration.firstRetry = .milliseconds(10)
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        for name in ["a", "b"] { try await store.breaker(.init(name: name)).run {} }
        #expect(!store.isHealthy)
        Files.remove(path)
        #expect(await eventually { store.isHealthy && self.workers(store, "b") == 1 })
        // Somebody forgets one of them before this process has read it.
        Foreign.run(path, "DELETE FROM circuit WHERE name = 'b'")
        #expect(
            await eventually {
                self.clock.advance(by: .seconds(61))
                store.backend.core?.requestMaintenance()
                return store.backend.core?.circuits.isEmpty == true && self.workers(store, "a") == 0
            })
        #expect(Foreign.value(path, "SELECT sum(succeeded) FROM counters") == "1")
    }

    @Test func refusalsAreReportedFirst() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db")
        defer { store.close() }
        do {
            let breaker = try store.breaker(.init(name: "a", trip: .consecutiveFailures(1)))
            await breaker.recordFailure()
            for _ in 0..<3 { await #expect(throws: CircuitOpenError.self) { try await breaker.run {} } }
        }
        try await self.pass(.seconds(61), store)
        #expect(await eventually { (try? store.circuit(named: "a"))??.refusals == 3 })
        // What is on the board the file is told, whether or not anybody uses the circuit.
        let path = store.backend.file.path
        #expect(
            await eventually {
                self.clock.advance(by: .seconds(61))
                store.backend.core?.requestMaintenance()
                return self.workers(store, "a") == 0
                    && Foreign.value(path, "SELECT sum(refused) FROM counters") == "3"
            })
    }

    /// The circuit goes after the time, counted from its last use, and its history after the same time again.
    @Test func itsHistoryIsForgottenToo() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db", forgetIdleAfter: .seconds(600))
        defer { store.close() }
        let kept = try store.breaker(.init(name: "kept"))
        try await store.hold("kept", .closed)
        do {
            let breaker = try store.breaker(.init(name: "gone"))
            // Used for long: the time counts from its end.
            try await self.pass(.seconds(3_600), store)
            #expect(breaker.isCallPermitted)
        }
        try await self.pass(.seconds(599), store)
        #expect(await eventually { self.workers(store, "gone") == 0 })
        try await self.pass(.seconds(151), store)
        #expect(await eventually { (try? store.circuits().map(\.name)) == ["kept"] })
        #expect(try await store.history(of: "gone").map(\.kind) == [.forgotten])
        try await self.pass(.seconds(599), store)
        #expect(try await store.history(of: "gone").count == 1)
        try await self.pass(.seconds(151), store)
        #expect(await eventually { (try? store.history(of: "gone").isEmpty) == true })
        #expect(try await store.history(of: "kept").map(\.kind) == [.held])
        withExtendedLifetime(kept) {}
    }

    /// Numbers of events that are gone were told already.
    @Test func whatIsGoneFromTheHistoryIsNotReportedAsMissed() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db", forgetIdleAfter: .seconds(600))
        defer { store.close() }
        let kept = try store.breaker(.init(name: "kept"))
        _ = try store.breaker(.init(name: "gone"))
        for _ in 0..<9 { try await store.reset("gone") }
        try await self.pass(.seconds(61), store)
        #expect(await eventually { self.workers(store, "gone") == 0 })
        try await self.pass(.seconds(700), store)
        #expect(await eventually { self.workers(store, "gone") == nil })
        try await self.pass(.seconds(700), store)
        #expect(await eventually { (try? store.history().isEmpty) == true })
        var events = store.events().makeAsyncIterator()
        try await store.reset("kept")
        let first = await events.next()
        #expect(first?.kind == .reset)
        #expect(first?.id == 11)
        withExtendedLifetime(kept) {}
    }

    /// More than the file is told at one look, and the last ones that the process has.
    @Test func theFileGetsAll() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let stores = [try self.store(directory + "/a.db"), try self.store(directory + "/a.db")]
        defer { for store in stores { store.close() } }
        for (index, store) in stores.enumerated() {
            _ = try store.breakers((0..<300).map { .init(name: "tenant \(index) \($0)") })
        }
        try await self.pass(.seconds(61), stores[0])
        #expect(await eventually { (try? stores[0].circuits().filter { $0.workers > 0 }.count) == 0 })
    }

    @Test func thoseOfAClosedStoreAreUnregisteredToo() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db")
        defer { store.close() }
        let other = try self.store(directory + "/a.db")
        let kept = try store.breaker(.init(name: "kept"))
        _ = try other.breaker(.init(name: "gone"))
        let late = try other.breaker(.init(name: "late"))
        other.close()
        try await self.pass(.seconds(61), store)
        #expect(await eventually { self.workers(store, "gone") == 0 })
        #expect(self.workers(store, "late") == 1)
        withExtendedLifetime((kept, late)) {}
    }

    @Test func aPolicyThatIsRefusedLeavesNothingRegistered() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let first = try self.store(directory + "/a.db")
        _ = try first.breaker(.init(name: "a"))
        first.close()
        let store = try self.store(directory + "/a.db")
        defer { store.close() }
        var calls = CallPolicy()
        calls.timeout = .seconds(31)
        #expect(throws: BreakerStoreError.self) { try store.breaker(named: "a", calls: calls) }
        try await self.pass(.seconds(61), store)
        #expect(await eventually { self.workers(store, "a") == 0 })
    }

    /// A row with a text beyond all bounds is deleted, and the circuits beside it are forgotten all the same.
    ///
    /// Whoever looks for idle circuits reads the state and the name, and not the last error.
    @Test(arguments: ["state", "name", "last_error"])
    func aRowThatCanNotBeReadKeepsNoOther(_ column: String) async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        let first = try self.store(path)
        _ = try first.breakers(["a", "b"].map { CircuitBreaker.Config(name: $0) })
        first.close()
        Foreign.run(
            path,
            """
            PRAGMA ignore_check_constraints = ON;
            UPDATE circuit SET \(column) = replace(hex(zeroblob(1500000)), '0', 'x') WHERE name = 'a'
            """
        )
        let store = try self.store(path, forgetIdleAfter: .seconds(600))
        defer { store.close() }
        try await self.pass(.seconds(1_000), store)
        #expect(await eventually { (try? store.circuits()) != nil })
        try await self.pass(.seconds(1_000), store)
        #expect(await eventually { (try? store.circuit(named: "b")) == .some(nil) })
        #expect(store.isHealthy)
    }

    /// Names that never come again: neither the process nor the file keeps them.
    @Test func anyNumberOfNamesTakesTheSameRoom() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let store = try self.store(directory + "/a.db", forgetIdleAfter: .seconds(60))
        defer { store.close() }
        let core = try #require(store.backend.core)
        for round in 0..<12 {
            for number in 0..<200 { _ = try store.breaker(.init(name: "tenant \(round) \(number)")) }
            try await self.pass(.seconds(61), store)
        }
        #expect(await eventually { core.circuits.all.count <= 400 })
        // What this process lets go of while the file is looked through is forgotten when it is looked through next.
        for _ in 0..<10 where try await !store.circuits().isEmpty { try await self.pass(.seconds(61), store) }
        #expect(try await store.circuits().isEmpty)
        try await self.pass(.seconds(61), store)
        #expect(await eventually { (try? store.history(limit: 10_000).count) ?? .max <= 200 })
    }

    /// Tenants that come, fail and go: neither the file nor the board grows from round to round.
    @Test func threeRoundsOfFailingTenantsTakeTheRoomOfOne() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        let store = try self.store(path, forgetIdleAfter: .seconds(600))
        defer { store.close() }
        let core = try #require(store.backend.core)
        var sizes: [(pages: String?, board: Int?)] = []
        for round in 0..<6 {
            let tenants = (0..<200).map {
                CircuitBreaker.Config(
                    name: "tenant \(round) \($0)", trip: .failureRate(0.5, minimumCalls: 1, within: .seconds(60)),
                    recovery: .init(timeout: .seconds(60)))
            }
            for breaker in try store.breakers(tenants) { await breaker.recordFailure() }
            #expect(await eventually { (try? store.circuits().count { $0.state.isOpen }) == 200 })
            // The handles are gone after a minute, the circuits after the pause, and their history after another pause.
            for _ in 0..<30 where try await !store.history(limit: 1).isEmpty {
                try await self.pass(.seconds(151), store)
                #expect(await eventually { !core.isSweeping.load(ordering: .acquiring) })
            }
            #expect(try await store.circuits().isEmpty)
            #expect(try await store.history(limit: 1).isEmpty)
            for table in ["circuit", "failure", "counters", "duration", "registration", "transition"] {
                #expect(Foreign.value(path, "SELECT count(*) FROM \(table)") == "0", "\(table)")
            }
            sizes.append((Foreign.value(path, "PRAGMA page_count"), Files.read(path + "-board")?.count))
        }
        #expect(sizes[1].pages == sizes[5].pages)
        // The board is swept only where a quarter of it would be free then, and so may grow a few times at first.
        #expect(sizes[3].board == sizes[5].board, "\(sizes)")
    }
}
