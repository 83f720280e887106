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

/// A broken file is set aside with all its bytes, and a new one takes its place; but only where a store has been.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct QuarantineTests {
    static let garbage = [UInt8](repeating: 0xA5, count: 20_000)

    @Test(arguments: [(1, false), (15, false), (20_000, false), (20_000, true)])
    func brokenFileIsKeptAndReplaced(size: Int, hasGarbageForALog: Bool) throws {
        let garbage = Array(Self.garbage.prefix(size))
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        try Stores.make(path)
        Files.write(garbage, to: path)
        if hasGarbageForALog { Files.write(Self.garbage, to: path + "-wal") }
        let log = Files.read(path + "-wal")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(try store.circuits().isEmpty)
        let aside = Files.quarantine(in: directory)
        let database = try #require(aside.first { $0.hasPrefix("a.db.") })
        #expect(Files.read("\(directory)/\(database)") == garbage)
        let keptLog = try #require(aside.first { $0.hasPrefix("a.db-wal.") })
        #expect(Files.read("\(directory)/\(keptLog)") == log)
        _ = try store.breaker(Stores.config())
        let event = try #require(try store.history().first { $0.kind == .quarantined })
        #expect(event.reason == "the file was damaged; it is kept as \(database)")
    }

    @Test func secondBrokenFileOfASecondKeepsTheFirst() throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        try Stores.make(path)
        for _ in 0..<3 {
            Files.write(Self.garbage, to: path)
            try CircuitStore(path: path, configuration: Stores.configuration()).close()
        }
        #expect(Files.quarantine(in: directory).count { $0.hasPrefix("a.db.") } == 3)
    }

    #if BREAKERSTORE_HOOKS
    /// Somebody has put garbage in the store's place for a moment: the store that comes back keeps its name and log.
    @Test(arguments: ["quarantine.due", "quarantine.begin", "quarantine.database", "quarantine.side"])
    func whatIsPutBackIsNotQuarantined(at step: String) async throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        await #expect(processExitsWith: .success) { [path = path as String, step = step as String] in
            try #require(unsafe rename(path, path + ".away") == 0)
            Files.write(QuarantineTests.garbage, to: path)
            Hook.install { if $0 == step { _ = unsafe rename(path + ".away", path) } }
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            #expect(try store.circuits().map(\.name) == ["a"])
            #expect(try store.circuit(named: "a")?.failures.count == 1)
            store.close()
        }
    }
    #endif

    /// The opening that has set the broken file aside fails, and a later one makes the new file.
    @Test func whatWasQuarantinedIsReportedThoughTheOpeningFails() async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        try Stores.make(path)
        Files.write(QuarantineTests.garbage, to: path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var configuration = Stores.configuration()
            configuration.whenUnavailable = .degrade
            // The opening may take so long, however busy the machine is.
            configuration.busyTimeout = .hangLimit
            let hasFailed = Locked(false)
            Hook.install { name in
                guard name == "creation.begin", !hasFailed.withLock({ $0 }) else { return }
                hasFailed.withLock { $0 = true }
                // Nothing can be made at the path.
                unsafe mkdir(path, 0o700)
            }
            let store = try CircuitStore(path: path, configuration: configuration)
            #expect(!store.isHealthy && hasFailed.withLock { $0 })
            unsafe rmdir(path)
            // A write of what happened meanwhile follows the return.
            while (try? store.history().contains { $0.kind == .quarantined }) != true { usleep(1_000) }
            store.close()
        }
    }

    /// SQLite meets the broken page only when it writes an event.
    @Test func fileThatBreaksInUseIsReplaced() async throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        let page = try #require(
            Foreign.value(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'event_by_circuit'").flatMap(Int.init))
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        var bytes = try #require(Files.read(path))
        bytes.replaceSubrange((page - 1) * 4_096..<page * 4_096, with: repeatElement(0, count: 4_096))
        Files.write(bytes, to: path)
        // The page is read anew once somebody else has written.
        Foreign.run(path, "UPDATE clock SET epoch_floor = epoch_floor + 1")
        let breaker = try store.breaker(Stores.config(maxFailures: 3))
        await breaker.recordFailure()
        let isTold = await eventually { (try? store.history())?.contains { $0.kind == .quarantined } == true }
        let directory = try Workplace.here.directory
        let history = Result { try store.history() }
        #expect(isTold, "\(store.health), \(Files.quarantine(in: directory)), \(history)")
        #expect(await eventually { store.isHealthy })
        // What was reported of the old circuit does not count for the new one, unless the old one was never read: then
        // the report has no epoch of its own.
        await breaker.recordFailure()
        #expect((1...2).contains(breaker.failureCount))
        #expect(try await store.circuits().map(\.name) == ["a"])
    }

    @Test func workersMeetAgainInTheNewFile() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=2")
        Files.write(Self.garbage, to: place.store)
        let newcomer = try await place.openWorker()
        try await newcomer.ask("breaker users failures=2")
        try await newcomer.ask("fail users")
        // Those who were there notice by themselves.
        while try await newcomer.ask("look users").number("workers") != 3 {}
        for worker in workers { while try await worker.ask("health")["health"] != "healthy" {} }
        try await workers[0].ask("fail users")
        for worker in workers + [newcomer] {
            #expect(try await worker.ask("call users").number("refused") == 1)
        }
    }

    /// A row that can't be read is no reason to throw the others away.
    @Test func unreadableRowCanBeForgottenOrReset() throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET state = 'clozed'")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        _ = try store.breaker(Stores.config("b"))
        #expect(throws: BreakerStoreError.self) { try store.circuit(named: "a") }
        // The row goes, and who uses the circuit registers it anew.
        let error = #expect(throws: BreakerStoreError.self) { try store.reset("a") }
        #expect(error?.code == .noSuchCircuit)
        #expect(try store.history(of: "a").first?.reason?.hasPrefix("its row could not be read") == true)
        _ = try store.breaker(Stores.config())
        #expect(try store.circuit(named: "a")?.state == .closed)
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET state = 'clozed' WHERE name = 'a'")
        try store.forget("a")
        #expect(try store.circuits().map(\.name) == ["b"])
        #expect(try store.history(of: "a").first?.kind == .forgotten)
        #expect(Files.quarantine(in: try Workplace.here.directory).isEmpty)
    }
}
