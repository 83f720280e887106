import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Somebody changes the schema while a worker has the file open: the worker guards in memory, changes nothing, and
/// comes back by itself.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LiveSchemaTests {
    private static func open(_ path: String) throws -> CircuitStore {
        var configuration = Stores.configuration()
        configuration.whenUnavailable = .degrade
        return try CircuitStore(path: path, configuration: configuration)
    }

    private static func code(of store: CircuitStore) -> BreakerStoreError.Code? {
        guard case .degraded(since: _, let error) = store.health else { return nil }
        return error.code
    }

    private static func events(in path: String) -> String? { Foreign.value(path, "SELECT count(*) FROM event") }

    /// Beside a worker, and before the first one comes.
    @Test(
        arguments: [
            ("CREATE UNIQUE INDEX strange ON failure (circuit)", "DROP INDEX strange"),
            (
                "DROP INDEX event_by_circuit",
                "CREATE INDEX event_by_circuit ON event (circuit, id)"
            ),
            ("CREATE TABLE t (x); PRAGMA user_version = -7", "DROP TABLE t; PRAGMA user_version = 3000"),
        ], [false, true])
    func comesBackOnceTheObjectIsAsItShouldBe(_ sql: (change: String, back: String), isOpen: Bool) async throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        if !isOpen { Foreign.run(path, sql.change) }
        let store = try Self.open(path)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        if isOpen {
            #expect(store.isHealthy)
            Foreign.run(path, sql.change)
        }
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(Self.code(of: store) == .foreignSchema, "\(store.health)")
        #expect(!breaker.isCallPermitted)
        #expect(Foreign.value(path, "SELECT count(*) FROM failure") == "1")
        Foreign.run(path, sql.back)
        #expect(await eventually { store.isHealthy })
        #expect(await eventually { (try? store.circuit(named: "b")?.state) != .closed })
        #expect(Foreign.value(path, "SELECT count(*) FROM circuit WHERE name = 'a'") == "1")
        #expect(try Files.quarantine(in: Workplace.here.directory).isEmpty)
    }

    @Test func startsANewFileOnceTheFilesWereMovedAway() async throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        await breaker.recordFailure()
        Foreign.run(path, "ALTER TABLE circuit ADD COLUMN owner TEXT")
        await breaker.recordFailure()
        #expect(Self.code(of: store) == .foreignSchema, "\(store.health)")
        // The worker runs, and has its byte in the lock file.
        let kept = try StoreFiles(path: path).quarantine(SystemHostClock())
        #expect(Files.read(kept) != nil)
        #expect(await eventually { store.isHealthy })
        #expect(try await store.circuits().map(\.name) == ["b"])
    }

    @Test func whatServicesUseIsNotMovedAway() throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        _ = try store.breaker(Stores.config("b"))
        let error = #expect(throws: BreakerStoreError.self) { try StoreFiles(path: path).quarantine(SystemHostClock()) }
        #expect(error?.code == .inUse)
        #expect(store.isHealthy)
        store.close()
        let kept = try StoreFiles(path: path).quarantine(SystemHostClock())
        #expect(Files.read(kept) != nil)
        #expect([path, path + "-wal", path + "-shm"].allSatisfy { Files.read($0) == nil })
        #expect(try Files.quarantine(in: Workplace.here.directory).count == 3)
    }

    /// Living workers move a broken file away themselves.
    @Test func aBrokenFileOfTheLivingIsLeftToThem() throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        let lock = try LockFile(path: path + "-lock", creatingWith: nil, owner: nil)
        let worker = WorkerID(LockFile.workers.lowerBound.rawValue + 1)
        #expect(lock.lock(worker: worker))
        Files.write(Array("not a database".utf8), to: path)
        let error = #expect(throws: BreakerStoreError.self) { try StoreFiles(path: path).quarantine(SystemHostClock()) }
        #expect(error?.code == .inUse)
        #expect(Files.read(path) != nil)
        lock.unlock(worker: worker)
        let kept = try StoreFiles(path: path).quarantine(SystemHostClock())
        #expect(Files.read(kept) != nil)
        // The lock file was there before.
        #expect(lock.isInPlace)
    }

    /// SQLite compiles nothing anew for that, and the tables are the same.
    @Test func laterMajorVersionAloneIsNoticedByWriters() async throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        await breaker.recordFailure()
        Foreign.run(path, "PRAGMA user_version = 4000", keepsLog: true)
        let events = Self.events(in: path)
        await breaker.recordFailure()
        #expect(Self.code(of: store) == .newerSchema, "\(store.health)")
        await breaker.recordFailure()
        #expect(!breaker.isCallPermitted)
        #expect(Self.events(in: path) == events)
        #expect(Foreign.value(path, "SELECT count(*) FROM failure") == "1")
        Foreign.run(path, "PRAGMA user_version = 3000", keepsLog: true)
        #expect(await eventually { store.isHealthy })
        #expect(await eventually { (try? store.circuit(named: "b")?.state) != .closed })
    }

    /// The version is asked for before the tables are compared.
    @Test func laterMajorVersionIsReportedWhateverTheTablesAre() async throws {
        let path = try Workplace.here.store
        let store = try Self.open(path)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        Foreign.run(
            path, "PRAGMA user_version = 4000; ALTER TABLE failure RENAME TO other; CREATE TABLE failure (x)")
        await breaker.recordFailure()
        #expect(Self.code(of: store) == .newerSchema, "\(store.health)")
        #expect(await eventually { Self.code(of: store) == .newerSchema })
        #expect(Foreign.value(path, "SELECT count(*) FROM failure") == "0")
    }
}
