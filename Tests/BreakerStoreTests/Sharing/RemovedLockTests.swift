import BreakerStore
import BreakerTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A cleaner takes the lock file away from under workers that live.
///
/// Real time: each worker looks once a second.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RemovedLockTests {
    enum Cleaner: String, CaseIterable {
        case removes, replaces

        func comeBy(_ place: Workplace) throws {
            let lock = place.store + "-lock"
            switch self {
            case .removes: unsafe unlink(lock)
            case .replaces:
                Files.copy(lock, to: lock + ".copy")
                try #require(unsafe rename(lock + ".copy", lock) == 0)
            }
        }
    }

    @Test(arguments: Cleaner.allCases)
    func thoseWhoLiveComeBack(after cleaner: Cleaner) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2, "listening=1")
        let witness = try place.worker()
        try await workers.ask("breaker users failures=3")
        let ids = try await Self.ids(of: workers, witness, place)
        try cleaner.comeBy(place)
        let newcomer = try await place.openWorker()
        // Nobody is taken for dead, unless a file lies there that may be as old as the store.
        if cleaner == .removes { #expect(try await newcomer.ask("workers").number("count") == 3) }
        try await Self.untilLocked(ids, witness, place)
        for worker in workers { try await Self.untilHealthy(worker) }
        try await newcomer.ask("breaker users failures=3")
        for worker in [newcomer, workers[1], workers[0]] {
            #expect(try await worker.ask("workers").number("count") == 3)
            #expect(try await worker.ask("fail users").number("failed") == 1)
        }
        for worker in workers + [newcomer] { #expect(try await worker.ask("call users")["cause"] == "open") }

        // The file is the same: nothing of what happened meanwhile is missing.
        let history = try await newcomer.history()
        for worker in workers {
            let own = history.filter { $0.pid == "\(worker.pid)" }.map(\.kind)
            #expect(own.prefix(2) == [.degraded, .restored])
        }
        try await workers.expectAllHeard(history)
        await workers[1].die()
        #expect(try await newcomer.ask("workers").number("count") == 2)
        #expect(try await workers[0].ask("workers").number("count") == 2)
    }

    /// Whichever of the two locks somebody believes in, there is one probe.
    @Test func aNewcomerLeavesAProberItsSlot() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let witness = try place.worker()
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("admit users").number("ran") == 1)
        let ids = try await Self.ids(of: workers, witness, place)
        try Cleaner.removes.comeBy(place)
        let newcomer = try await place.openWorker()
        try await newcomer.ask("breaker users failures=1")
        #expect(try await newcomer.ask("admit users")["cause"] == "probing")
        try await Self.untilLocked(ids, witness, place)
        for worker in workers { try await Self.untilHealthy(worker) }
        #expect(try await newcomer.ask("admit users")["cause"] == "probing")
        #expect(try await workers[1].ask("admit users")["cause"] == "probing")
        try await workers[0].ask("succeed")
        #expect(try await newcomer.ask("look users")["state"] == "closed")
    }

    /// Others lock another file by now: they would take this worker for dead, and its slot for free.
    @Test func nobodyTakesASlotWithoutTheLockFile() async throws {
        let fixture = try StoreFixture()
        let breaker = try await fixture.dueBreaker()
        Files.remove(fixture.store.path + "-lock")
        let permit = try await breaker.admit()
        #expect(await eventually { (try? fixture.store.circuit(named: "a"))??.probes.isEmpty == true })
        permit.discard()
    }

    /// Who died before or meanwhile comes back to no lock.
    @Test func theDeadAreFoundOut() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("admit users").number("ran") == 1)
        await workers[0].die()
        try Cleaner.removes.comeBy(place)
        let newcomer = try await place.openWorker()
        try await newcomer.ask("breaker users failures=1")
        #expect(try await newcomer.ask("workers").number("count") == 2)
        #expect(try await newcomer.ask("admit users").number("ran") == 1)
    }

    @Test func aStrangersFileIsNoLock() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let witness = try place.worker()
        try await workers.ask("breaker users failures=3")
        try await workers[0].ask("fail users")
        let ids = try await Self.ids(of: workers, witness, place)
        let lock = place.store + "-lock"
        Files.write(Array("somebody's notes".utf8), to: lock + ".notes")
        try #require(unsafe rename(lock + ".notes", lock) == 0)
        await #expect {
            try await place.worker().ask("open \(place.store)")
        } throws: {
            "\($0)".contains("not a store's lock file")
        }
        for worker in workers {
            try await Self.wait { try await worker.ask("health")["health"] != "healthy" }
            #expect(try await worker.ask("call users").number("ran") == 1)
        }
        // Memory keeps it until the file is back.
        try await workers[0].ask("fail users")
        #expect(Files.read(lock) == Array("somebody's notes".utf8))

        unsafe unlink(lock)
        try await Self.untilLocked(ids, witness, place)
        for worker in workers { try await Self.untilHealthy(worker) }
        try await Self.wait { try await workers[1].ask("look users").number("counted") == 2 }
        let newcomer = try await place.openWorker()
        #expect(try await newcomer.ask("workers").number("count") == 3)
    }

    // MARK: - Waiting

    private static func ids(
        of workers: [WorkerProcess],
        _ witness: WorkerProcess,
        _ place: Workplace
    ) async throws -> [Int] {
        var ids: [Int] = []
        for worker in workers {
            let sql = "SELECT id FROM worker WHERE pid = \(worker.pid)"
            ids.append(try #require(try await witness.ask("query \(place.store) \(sql)").number("row")))
        }
        return ids
    }

    /// Waits until the lock file that is there now has the bytes of all.
    private static func untilLocked(_ ids: [Int], _ witness: WorkerProcess, _ place: Workplace) async throws {
        for id in ids {
            try await Self.wait { try await witness.ask("locked \(place.store) \(id)")["locked"] == "1" }
        }
    }

    private static func untilHealthy(_ worker: WorkerProcess) async throws {
        try await Self.wait { try await worker.ask("health")["health"] == "healthy" }
    }

    /// Asks again and again, but leaves the machine to others in between.
    private static func wait(until isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
