import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How many calls there were, of all processes, as long as the circuit is in the file.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct TotalsTests {
    private static func open(_ path: String, clock: ManualHostClock = ManualHostClock()) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = .hangLimit
        return try CircuitStore(path: path, configuration: configuration)
    }

    private static func use(_ breaker: CircuitBreaker) async {
        for _ in 0..<5 { try? await breaker.run {} }
        for _ in 0..<2 { try? await breaker.run { throw CallFailure() } }
        try? await breaker.run { throw CancellationError() }
        await breaker.recordFailure()
        await breaker.recordSuccess()
        for _ in 0..<2 { try? await breaker.run {} }
    }

    private static let used = CallTotals(succeeded: 6, failed: 3, ignored: 1, refused: 2)

    @Test(arguments: [
        TripRule.failures(3, within: .seconds(60)), .consecutiveFailures(3),
        .failureRate(0.3, minimumCalls: 8, within: .seconds(60)),
    ])
    func countsEachEndOnce(trip: TripRule) async throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        let breaker = try store.breaker(.init(name: "a", trip: trip))
        if case .failureRate = trip.kind {
            // The failures come last.
            for _ in 0..<6 { try? await breaker.run {} }
            try? await breaker.run { throw CancellationError() }
            for _ in 0..<3 { try? await breaker.run { throw CallFailure() } }
            for _ in 0..<2 { try? await breaker.run {} }
        } else if trip.window == nil {
            for _ in 0..<5 { try? await breaker.run {} }
            await breaker.recordSuccess()
            try? await breaker.run { throw CancellationError() }
            for _ in 0..<2 { try? await breaker.run { throw CallFailure() } }
            await breaker.recordFailure()
            for _ in 0..<2 { try? await breaker.run {} }
        } else {
            await Self.use(breaker)
        }
        #expect(breaker.totals == Self.used)
        #expect(try await store.circuit(named: "a")?.totals == Self.used)
        #expect(try await store.circuits().first?.totals == Self.used)
        #expect(try await !store.facts().countsPrivately)
        store.close()
        // A new process, a new board: what was saved stays.
        Files.remove(path + "-board")
        let again = try Self.open(path)
        defer { again.close() }
        let handle = try again.breaker(named: "a")
        #expect(handle.totals == Self.used)
        try await again.reset("a")
        try? await handle.run {}
        #expect(handle.totals.succeeded == 7)
    }

    /// Two processes, of which one is killed: what failed is counted, whoever acknowledged it.
    @Test func countsOfAllProcesses() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1000")
        try await workers[0].ask("call users 70")
        try await workers[0].ask("fail users 5")
        try await workers[1].ask("fail users 6")
        try await workers[1].ask("call users 30")
        #expect(await workers[0].quit() == 0)
        await workers[1].die()
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        configuration.clock = place.clock
        let reader = try CircuitStore(path: place.store, configuration: configuration)
        let totals = try #require(try await reader.circuit(named: "users")?.totals)
        #expect(totals.failed == 11)
        #expect((70...100).contains(totals.succeeded), "\(totals)")
    }

    /// Others wait for a transaction: what very many circuits have counted is saved in pieces, and all of it.
    @Test func veryManyCircuitsAreReportedInPieces() async throws {
        let clock = ManualHostClock()
        let path = try Workplace.here.store
        let store = try Self.open(path, clock: clock)
        defer { store.close() }
        let core = try #require(store.backend.core)
        let count = StoreCounts.maxAtOnce * 2 + 10
        let breakers = try (0..<count).map { try store.breaker(.init(name: "circuit-\($0)")) }
        for breaker in breakers { try await breaker.run {} }
        core.publishAllCounts()
        var saved: [Int64] = []
        for _ in 0..<4 {
            let piece = core.counting.beginSave(
                on: .pauseIsOver, by: 1, atMost: StoreCounts.maxAtOnce, reading: core.adopt)
            guard let piece else { continue }
            let own = piece.counters.count { $0.own != nil }
            #expect(own <= StoreCounts.maxAtOnce && piece.counters.count - own <= StoreCounts.maxAtOnce)
            core.counting.setSaved(piece)
            saved += piece.counters.map(\.incarnation)
        }
        #expect(Set(saved).count == saved.count)
        // The store's own thread may have saved a piece in between.
        let all = await eventually {
            let inFile = Foreign.number(path, "SELECT count(DISTINCT circuit) FROM counters") ?? 0
            return saved.count + Int(inFile) >= count
        }
        #expect(all)
        // Nothing is left, once the store's own thread has marked what it has saved.
        let isNothingLeft = await eventually {
            clock.advance(by: .seconds(600))
            let rest = core.counting.beginSave(
                on: .pauseIsOver, by: 1, atMost: StoreCounts.maxAtOnce, reading: core.adopt)
            if let rest { core.counting.setSaved(rest) }
            return rest == nil
        }
        #expect(isNothingLeft)
    }

    /// A incarnation that no circuit has would lead to the cell of another circuit, or to a cell of another kind.
    @Test(arguments: [0, -1, 1 << 62, Int64.min, .max]) func anImpossibleIncarnationIsNotTaken(
        incarnation: Int64
    ) async throws {
        let path = try Workplace.here.store
        let names = ["a", "b"]
        let rule = TripRule.failureRate(0.9, minimumCalls: 50, within: .seconds(10))
        let slow = SlowCallRule(longerThan: .seconds(1))
        let first = try Self.open(path)
        for name in names { _ = try first.breaker(.init(name: name, trip: rule, slow: slow)) }
        first.close()
        Foreign.run(path, "UPDATE circuit SET incarnation = \(incarnation) WHERE name = 'a'")
        let store = try Self.open(path)
        defer { store.close() }
        for (name, failures) in zip(names, [3, 2]) {
            let breaker = try store.breaker(.init(name: name, trip: rule, slow: slow))
            for _ in 0..<failures { try? await breaker.run { throw CallFailure() } }
            #expect(breaker.totals.failed == UInt64(failures))
            let recent = try await store.circuit(named: name)?.recent
            #expect(recent?.failed == UInt64(failures) && recent?.slowCalls == UInt64(failures))
        }
    }

    @Test func showsHowLongCallsTook() async throws {
        let clock = ManualHostClock()
        let store = try Self.open(try Workplace.here.store, clock: clock)
        defer { store.close() }
        var calls = CallPolicy()
        calls.measuresDurations = true
        let breaker = try store.breaker(.init(name: "a"), calls: calls)
        #expect(breaker.totals.durations == nil)
        for time in [1, 2, 3, 60_000] { try await breaker.run { clock.advance(by: .milliseconds(time)) } }
        let durations = try #require(breaker.totals.durations)
        #expect(durations.bounds.count == 15 && durations.bounds.first == .milliseconds(1))
        #expect(durations.bounds.last == .seconds(50))
        #expect(durations.counts == [1, 1, 1] + Array(repeating: 0, count: 12) + [1])
        #expect(durations.sum == .milliseconds(60_006))
        #expect(breaker.totals.succeeded == 4)
        // Of calls that only fail, too.
        let failing = try store.breaker(.init(name: "b"), calls: calls)
        try? await failing.run {
            clock.advance(by: .milliseconds(3))
            throw CallFailure()
        }
        #expect(failing.totals.durations?.sum == .milliseconds(3))
    }

    @Test func showsWhatIsInTheWindow() async throws {
        let store = try Self.open(try Workplace.here.store)
        defer { store.close() }
        let breaker = try store.breaker(
            .init(
                name: "a", trip: .failureRate(0.9, minimumCalls: 50, within: .seconds(10)),
                slow: SlowCallRule(longerThan: .seconds(1))))
        for _ in 0..<3 { try? await breaker.run {} }
        try? await breaker.run { throw CallFailure() }
        let recent = try await store.circuit(named: "a")?.recent
        #expect(recent == CallRates(calls: 4, failed: 1, window: .seconds(10), slowCalls: 4, slowWindow: .seconds(60)))
        _ = try store.breaker(.init(name: "b"))
        #expect(try await store.circuit(named: "b")?.recent == nil)
    }

    /// Where no board can be had, each process counts for itself, and says so.
    @Test func guardsAndCountsWithoutABoard() async throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        defer { store.close() }
        unsafe mkdir(path + "-board", 0o700)
        let breaker = try store.breaker(
            .init(name: "a", trip: .failureRate(0.5, minimumCalls: 4, within: .seconds(10))))
        for _ in 0..<2 { try? await breaker.run {} }
        for _ in 0..<2 { try? await breaker.run { throw CallFailure() } }
        #expect(breaker.state.isOpen)
        #expect(try await store.facts().countsPrivately)
        #expect(store.health.isHealthy)
    }

    @Test func theFailureThatRegistersACircuitAgainIsThatCircuits() async throws {
        let store = try Self.open(try Workplace.here.store)
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"))
        try await breaker.run {}
        try await store.forget("a")
        await breaker.recordFailure()
        try await breaker.run {}
        #expect(breaker.totals.failed == 1)
        #expect(breaker.totals.succeeded == 1)
    }

    /// However many processes come and go, the file has one row for what they could not count on a board.
    @Test func processesWithoutABoardLeaveOneRow() async throws {
        let path = try Workplace.here.store
        unsafe mkdir(path + "-board", 0o700)
        for _ in 0..<3 {
            let store = try Self.open(path)
            let breaker = try store.breaker(
                .init(name: "a", slow: SlowCallRule(longerThan: .seconds(1))))
            for _ in 0..<2 { try? await breaker.run {} }
            try? await breaker.run { throw CallFailure() }
            store.close()
        }
        let store = try Self.open(path)
        defer { store.close() }
        let totals = try await store.circuit(named: "a")?.totals
        #expect(totals?.succeeded == 6 && totals?.failed == 3)
        #expect(totals?.durations?.counts.reduce(0, +) == 9)
        #expect(Foreign.value(path, "SELECT group_concat(board) FROM counters") == "0")
        #expect(Foreign.value(path, "SELECT group_concat(DISTINCT board) FROM duration") == "0")
        // The greatest number there is stays one.
        Foreign.run(path, "UPDATE counters SET succeeded = 9223372036854775806", keepsLog: true)
        let breaker = try store.breaker(named: "a")
        for _ in 0..<3 { try? await breaker.run {} }
        store.close()
        #expect(Foreign.value(path, "SELECT succeeded FROM counters") == "9223372036854775807")
    }

    /// No worker has such a number: the kernel says neither that the byte is locked nor that it is free.
    @Test func aRowOfNoWorkerIsNotAlive() throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        Foreign.run(path, "INSERT INTO worker (id, name, pid, since) VALUES (-5, 'x', 1, 0), (0, 'y', 1, 0)")
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        let reader = try CircuitStore(path: path, configuration: configuration)
        defer { reader.close() }
        #expect(try reader.workers().count == 1)
    }

    /// The board is opened again together with the file.
    @Test func aWorkerThatHasReopenedTheFileIsNotDegraded() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        synchronously { try? fixture.breaker().run { throw CallFailure() } }
        let path = store.backend.file.path
        #expect(unsafe unlink(path + "-shm") == 0)
        #expect(throws: BreakerStoreError.self) { try { try store.hold("a", .open) }() }
        #expect(await eventually { fixture.isHealthy })
        #expect(
            await eventually {
                // By this clock the next try to open the board is due.
                fixture.clock.advance(by: .seconds(1))
                return (try? store.workers().map(\.degradedSince)) == [nil]
            })
    }

    @Test func showsWhoIsDegraded() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(1))
        let store = fixture.store
        _ = try fixture.breaker()
        synchronously { try? fixture.breaker().run { throw CallFailure() } }
        #expect(try await store.workers().first?.degradedSince == nil)
        let lock = try WriteLock(store)
        #expect(throws: BreakerStoreError.self) { try { try store.hold("a", .open) }() }
        #expect(await eventually { (try? store.workers().first?.degradedSince) ?? nil != nil })
        try lock.release()
        #expect(await eventually { fixture.isHealthy })
        #expect(await eventually { (try? store.workers().first?.degradedSince) == .some(nil) })
    }
}
