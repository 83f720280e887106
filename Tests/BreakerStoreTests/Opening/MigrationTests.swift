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

/// A store that may not migrate leaves a file of an older schema as it is, and uses the file once another process has
/// migrated it.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct MigrationTests {
    static let versions = OlderFileTests.versions

    private static func configuration(
        _ access: Access = .readWrite, _ change: (inout CircuitStore.Configuration) -> Void = { _ in }
    ) -> CircuitStore.Configuration {
        var configuration = Stores.configuration(access)
        configuration.migration = .never
        configuration.firstRetry = .milliseconds(1)
        change(&configuration)
        return configuration
    }

    private static func error(of store: CircuitStore) -> BreakerStoreError? {
        guard case .degraded(since: _, let error) = store.health else { return nil }
        return error
    }

    /// What lies beside the older database.
    enum Beside: String, CaseIterable, Sendable {
        case nothing, lock, log, logAndIndex, indexAlone, hotJournal
    }

    private static func put(_ beside: Beside, beside path: String) {
        guard beside != .nothing else { return }
        Files.write(LockFile.magic, to: path + "-lock")
        switch beside {
        case .nothing, .lock: break
        case .log, .logAndIndex, .indexAlone:
            Foreign.run(path, "PRAGMA journal_mode = WAL; UPDATE circuit SET epoch = epoch + 1", keepsLog: true)
            if beside == .log { unsafe unlink(path + "-shm") }
            if beside == .indexAlone { unsafe unlink(path + "-wal") }
        case .hotJournal:
            var copies: [(path: String, bytes: [UInt8])] = []
            do {
                let writer = Foreign(path)
                writer.run("PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(900000))")
                copies = [path, path + "-journal"].map { ($0, Files.read($0) ?? []) }
            }
            for copy in copies { Files.write(copy.bytes, to: copy.path) }
        }
    }

    @Test(arguments: versions, Beside.allCases) func isLeftAsItIs(version: String, beside: Beside) throws {
        let path = try OlderFileTests.make(version)
        Self.put(beside, beside: path)
        let directory = try Workplace.here.directory
        let before = Listing(directory)
        for access in [Access.readWrite, .existing] {
            let error = #expect(throws: BreakerStoreError.self) {
                try CircuitStore(path: path, configuration: Self.configuration(access))
            }
            #expect(error?.code == .olderSchema, "\(error as Any)")
            #expect(error?.message.contains("schema \(version)") == true, "\(error as Any)")
            #expect(error?.advice?.contains("to schema \(Versions.schema)") == true, "\(error as Any)")
            #expect(error?.path == path)
            #expect(Listing(directory) == before)
        }
    }

    /// The log has the whole first page; the database's own is torn.
    @Test(arguments: versions) func aTornFirstPageIsLeftAsItIs(version: String) throws {
        let path = try OlderFileTests.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        Foreign.run(path, "PRAGMA user_version = \(OlderFileTests.number(version))", keepsLog: true)
        var bytes = try #require(Files.read(path))
        bytes.replaceSubrange(0..<64, with: repeatElement(0x55, count: 64))
        Files.write(bytes, to: path)
        let before = try Listing(Workplace.here.directory)
        let error = #expect(throws: BreakerStoreError.self) {
            try CircuitStore(path: path, configuration: Self.configuration())
        }
        #expect(error?.code == .olderSchema, "\(error as Any)")
        #expect(try Listing(Workplace.here.directory) == before)
    }

    /// New files, files of this schema and files of later minor versions are used; only older ones are not.
    @Test(arguments: ["new", "this", "later"]) func otherFilesAreUsed(what: String) throws {
        let path = try Workplace.here.store
        if what != "new" { try Stores.make(path) }
        if what == "later" { Foreign.run(path, "PRAGMA user_version = \(Schema.version + 1)", keepsLog: true) }
        let store = try CircuitStore(path: path, configuration: Self.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        try store.breaker(Stores.config("b")).recordFailure()
        #expect(try store.circuit(named: "b")?.failureCount == 1)
    }

    /// Another process has migrated the file just now, and the database itself still has the old first page.
    @Test(arguments: versions) func aMigrationThatIsInTheLogCounts(version: String) throws {
        let path = try OlderFileTests.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        Foreign.run(path, "PRAGMA journal_mode = WAL", keepsLog: true)
        let other = try Connection(path: path, access: .readWrite)
        try other.configureForReading()
        #expect(try Schema.migrate(other, StoreFile(resolving: path)) == [])
        var facts = OpeningFacts(unexamined: try StoreFile(resolving: path))
        facts.examine(.content)
        guard case .header(let header) = facts.content else {
            Issue.record("\(facts)")
            return
        }
        #expect(header.userVersion < Schema.version, "the migration is in the log alone")
        let store = try CircuitStore(path: path, configuration: Self.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(try store.circuit(named: "held-open")?.hold?.state == .open)
    }

    /// The new release is deployed with `.never`; later one process migrates.
    @Test(arguments: versions) func theFileIsUsedOnceItIsMigrated(version: String) async throws {
        let place = try Workplace.here
        let path = try OlderFileTests.make(version)
        let services = [try place.worker(), try place.worker()]
        try await services.ask("open \(path) degrade never first-retry=1")
        try await services.ask("breaker closed failures=3")
        for service in services {
            let health = try await service.ask("health").description
            #expect(health.contains("olderSchema") && health.contains("schema \(version)"), "\(health)")
            // Memory guards, though the file may hold the circuit open: nobody has read it.
            #expect(try await service.ask("call closed").number("ran") == 1)
            try await service.ask("fail closed")
        }
        #expect(Foreign.value(path, "PRAGMA user_version") == OlderFileTests.number(version))
        let migrator = try place.worker()
        try await migrator.ask("open \(path)")
        #expect(await migrator.quit() == 0)
        try await services.ask("healthy 600000")
        // What both have seen meanwhile counts together.
        try await services[0].ask("fail closed")
        try await services.ask("until closed open")
    }

    /// A backup of the older schema takes the place of an open store.
    @Test func aBackupIsNotMigrated() async throws {
        let place = try Workplace.here
        try Stores.make(place.store)
        let store = try CircuitStore(path: place.store, configuration: Self.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config(maxFailures: 100))
        let backup = try OlderFileTests.make("2.1")
        let bytes = Files.read(backup)
        #expect(unsafe rename(backup, place.store) == 0)
        await breaker.recordFailure()
        #expect(await eventually { Self.error(of: store)?.code == .olderSchema }, "\(store.health)")
        #expect(throws: BreakerStoreError.self) { try store.reset("a") }
        #expect(Files.read(place.store) == bytes)
    }

    /// Both stores of a process have one connection, which would not migrate.
    @Test func aStoreThatWouldMigrateIsNoSecondStore() throws {
        let path = try Workplace.here.store
        let store = try CircuitStore(path: path, configuration: Self.configuration())
        defer { store.close() }
        let error = #expect(throws: BreakerStoreError.self) {
            try CircuitStore(path: path, configuration: Stores.configuration())
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("migration is .automatic, but .never in the store") == true)
    }
}
