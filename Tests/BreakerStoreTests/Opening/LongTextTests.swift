import BreakerTestSupport
import CSQLite
import Synchronization
import Testing

@testable import BreakerStore

/// Texts and rows beyond all bounds, as somebody may write them: a service deletes what can't be read.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LongTextTests {
    /// A store with the circuits "a" and "b", to which `sql` is done; LONG is a text of three megabytes.
    private static func make(_ sql: String) throws -> String {
        let path = try Workplace.here.store
        try Stores.make(path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        _ = try store.breaker(Stores.config("b"))
        for name in ["a", "b"] { try store.reset(name) }
        store.close()
        let long = "replace(hex(zeroblob(1500000)), '0', 'x')"
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; \(sql.replacing("LONG", with: long))")
        return path
    }

    /// SQLite 3.37 can't look at any column of a long row, so that the store mends it before it is forgotten.
    private static let isMendedAtOnce = sqlite3_libversion_number() < 3_039_000

    static let circuitTexts = [
        "last_error", "group_name", "hold_reason", "hold_by", "rules", "state", "name",
    ]

    /// A process that only reads says so.
    static func requireClearError(_ read: () throws -> Void) {
        let error = #expect(throws: BreakerStoreError.self, performing: read)
        #expect(error?.isOfRefusedValue == true && error?.advice?.contains("a service deletes such rows") == true)
    }

    /// The read's error is thrown once, by one of several tickets of a transaction.
    @Test func aLongTextIsDeletedThoughOthersCommitWithIt() async throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let core = try #require(store.backend.core)
        // The store's thread looks around while there is a handle.
        let breaker = try store.breaker(Stores.config())
        #expect(await eventually { core.longTexts.load(ordering: .relaxed) == .done })
        Foreign.run(
            path,
            """
            INSERT INTO event (circuit, kind, at, reason) VALUES ('a', 'reset', 0, replace(hex(zeroblob(1500000)), '0', 'x'))
            """)
        let other = Foreign(path)
        other.run("BEGIN IMMEDIATE")
        async let reset: Void = breaker.reset()
        #expect(await eventually { core.read { $0.waiting.count } == 1 })
        #expect(throws: BreakerStoreError.self) { try synchronously { try store.history() } }
        #expect(core.read { $0.waiting.count } == 2)
        other.run("ROLLBACK")
        try await reset
        #expect(
            await eventually {
                Foreign.value(path, "SELECT count(*) FROM event WHERE length(reason) > 1000000") == "0"
            })
    }

    @Test(arguments: Self.circuitTexts)
    func longTextIsDeletedWithItsCircuit(column: String) async throws {
        let path = try Self.make("UPDATE circuit SET \(column) = LONG WHERE name = 'a'")
        let reader = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
        defer { reader.close() }
        Self.requireClearError { _ = try reader.circuits() }
        #expect(try synchronously { try reader.circuit(named: "b") } != nil)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let other = try store.breaker(Stores.config("b"))
        func names() -> [String]? { try? reader.circuits().map(\.name) }
        #expect(await eventually { names() == ["b"] })
        synchronously { for _ in 0..<2 { other.recordFailure() } }
        #expect(!other.isCallPermitted)
        #expect(store.isHealthy)
        #expect(try await store.history().contains { $0.reason?.contains("could not be read") == true })
    }

    /// What an operator does about it.
    @Test(arguments: Self.circuitTexts)
    func circuitWithALongTextCanBeForgotten(column: String) throws {
        let path = try Self.make("UPDATE circuit SET \(column) = LONG WHERE name = 'a'")
        let store = try CircuitStore(path: path, configuration: Stores.configuration(.existing))
        defer { store.close() }
        if column == "name" {
            // That can't be the name of a circuit.
            let error = #expect(throws: BreakerStoreError.self) {
                try store.forget([.named(String(repeating: "x", count: 100) + "\u{FFFD}")], evenIfInUse: true)
            }
            #expect(error?.code == .noSuchCircuit)
        } else {
            let changes = try store.forget([.named("a")], evenIfInUse: true)
            #expect(changes.map(\.from) == [Self.isMendedAtOnce ? "closed" : StateChange.unreadable])
        }
        #expect(Foreign.value(path, "SELECT group_concat(name) FROM circuit") == "b")
        #expect(store.isHealthy)
    }

    @Test(arguments: ["circuit", "kind", "was", "becomes", "reason", "subject", "worker_name", "operator"])
    func eventWithALongTextIsDeleted(column: String) async throws {
        let path = try Self.make("UPDATE event SET \(column) = LONG WHERE id = 1")
        let reader = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
        defer { reader.close() }
        func history() throws -> [CircuitEvent] {
            try reader.view { (inspection) throws(BreakerStoreError) in try inspection.history(after: 0) }
        }
        Self.requireClearError { _ = try history() }
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        #expect(await eventually { (try? history()) != nil })
        #expect(try history().allSatisfy { $0.id != 1 })
        #expect(try history().contains { $0.reason == "1 row that could not be read was removed" })
        #expect(try await store.history(of: "b").count == 1)
        withExtendedLifetime(breaker) {}
    }

    /// Written under a live service, such a row is deleted by the first read that meets it.
    @Test(arguments: [
        "INSERT INTO event (circuit, kind, at, reason) VALUES ('b', 'tripped', 1, LONG)",
        "UPDATE circuit SET last_error = LONG WHERE name = 'a'", "UPDATE worker SET name = LONG",
        "INSERT INTO probe SELECT id, 1, 1, LONG, 1, 1, 1 FROM circuit WHERE name = 'b'",
        "INSERT INTO transition SELECT id, LONG, 1 FROM circuit WHERE name = 'b'",
        // Among rows that can be read, and of a circuit that is gone.
        "INSERT INTO probe VALUES (98, 1, 1, 'w', 1, 1, 1), (98, 2, 1, LONG, 1, 1, 1), (99, 1, 1, LONG, 1, 1, 1)",
    ])
    func longTextUnderALiveServiceIsDeleted(sql: String) async throws {
        let path = try Self.make("")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let core = try #require(store.backend.core)
        let breaker = try store.breaker(Stores.config("b"))
        func hasLooked() -> Bool { core.longTexts.load(ordering: .relaxed) == .done }
        #expect(await eventually(hasLooked))
        let long = "replace(hex(zeroblob(1500000)), '0', 'x')"
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; \(sql.replacing("LONG", with: long))")
        func readAll() throws {
            try core.view { (database) throws(BreakerStoreError) in try database.requireShortTexts() }
        }
        Self.requireClearError { try readAll() }
        #expect(await eventually { (try? readAll()) != nil })
        #expect(store.isHealthy, "\(store.health)")
        synchronously { for _ in 0..<2 { breaker.recordFailure() } }
        #expect(!breaker.isCallPermitted)
    }

    @Test func longNameOfAWorkerHidesNoOther() throws {
        let path = try Self.make("INSERT INTO worker VALUES (5, LONG, 1, NULL, 1)")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(try store.workers().count == 1)
        #expect(store.isHealthy)
    }

    /// SQLite reads a key of an index as a whole, whatever the limits are: the store's thread looks for such a key once
    /// after the opening.
    @Test(arguments: [
        "UPDATE circuit SET name = HUGE WHERE name = 'a'", "UPDATE event SET circuit = HUGE WHERE id = 1",
        "INSERT INTO command SELECT id, HUGE, 1, NULL, 0, 0, NULL, NULL, NULL, NULL FROM circuit WHERE name = 'b'",
    ])
    func hugeKeyIsQuarantined(sql: String) async throws {
        let path = try Self.make(sql.replacing("HUGE", with: "hex(zeroblob(20000000))"))
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        let directory = try Workplace.here.directory
        #expect(await eventually { !Files.quarantine(in: directory).isEmpty })
        #expect(await eventually { store.isHealthy })
        synchronously { for _ in 0..<2 { breaker.recordFailure() } }
        #expect(!breaker.isCallPermitted)
    }

    /// A large file costs an opening nothing.
    @Test func largeFileIsNotReadThroughByItsOpening() async throws {
        let path = try Self.make(
            """
            INSERT INTO event (circuit, kind, at, reason) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n
            WHERE x < 150) SELECT 'b', 'configured', 1, hex(zeroblob(150000)) FROM n
            """)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let core = try #require(store.backend.core)
        func hasLooked() -> Bool { core.longTexts.load(ordering: .relaxed) == .done }
        #expect(!hasLooked())
        let breaker = try store.breaker(Stores.config("b"))
        synchronously { breaker.recordFailure() }
        #expect(await eventually(hasLooked))
        #expect(store.isHealthy)
        #expect(try await store.history().allSatisfy { $0.kind != .degraded && $0.kind != .quarantined })
    }

    /// To write the row anew frees the pages of its text: SQLite does not write them once more, under the write lock.
    @Test func longTextIsNotOverwritten() throws {
        let path = try Self.make("UPDATE circuit SET last_error = hex(zeroblob(20000000)) WHERE name = 'a'")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        try store.breaker(Stores.config("a")).recordFailure()
        #expect(try store.circuit(named: "a")?.failures.count == 1)
        let log = try #require(StoreFile.size("\(path)-wal"))
        #expect(log < 8 << 20)
    }

    /// What a service itself hands over.
    @Test func longTextOfACallerIsRefusedOrCut() throws {
        let path = try Self.make("")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let long = String(repeating: "x", count: 3_000_000)
        let error = #expect(throws: BreakerStoreError.self) { try store.reset("b", reason: long) }
        #expect(error?.code == .invalidConfiguration)
        #expect(throws: BreakerStoreError.self) { try store.circuit(named: long) }
        #expect(store.isHealthy)
        // One character.
        struct Marked: Error, CustomStringConvertible {
            let description = "e" + String(repeating: "\u{301}", count: 2_000_000)
        }
        let breaker = try store.breaker(Stores.config("b"))
        for _ in 0..<2 { _ = try? { try breaker.run { throw Marked() } }() }
        #expect(!breaker.isCallPermitted)
        #expect(breaker.failureCount == 2)
    }

    /// Bytes that are no UTF-8 become three each.
    @Test func longTextThatIsNoUTF8() throws {
        let path = try Self.make("UPDATE circuit SET last_error = CAST(zeroblob(900000) AS TEXT) WHERE name = 'a'")
        Foreign.run(path, "UPDATE circuit SET last_error = replace(last_error, char(0), CAST(x'ff' AS TEXT))")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("a"))
        var ran = 0
        for _ in 0..<3 { _ = try? { try breaker.run { ran += 1 } }() }
        #expect(ran == 3)
        try store.reset("a")
        #expect(try store.circuits().map(\.name) == ["a", "b"])
        #expect(store.isHealthy)
    }

    /// More failures than any rule lets be, all of them within the window.
    @Test func manyFailuresCountAsTheNewest() throws {
        let path = try Self.make(
            """
            INSERT INTO failure WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000)
            SELECT 1, (SELECT reserved FROM clock), x, 1 FROM n
            """)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let database = try #require(store.backend.core?.writer.opened?.writer)
        let stored = try #require(try database.circuit(named: "a"))
        #expect(stored.failures.count < 3_000)
        let breaker = try store.breaker(Stores.config("a"))
        breaker.recordFailure()
        #expect(!breaker.isCallPermitted)
        #expect(store.isHealthy)
    }

    @Test func manyProbesWorkersAndRegistrations() throws {
        let path = try Self.make(
            """
            UPDATE circuit SET state = 'half-open' WHERE name = 'a';
            CREATE TEMP TABLE n AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50000)
            SELECT x FROM n;
            INSERT INTO probe SELECT 1, x, x, NULL, NULL, 1, 1 FROM n;
            INSERT INTO worker SELECT x, 'w', 1, NULL, 1 FROM n;
            INSERT INTO registration SELECT x, 1 FROM n;
            """)
        let reader = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
        defer { reader.close() }
        #expect(try reader.circuits().count == 2)
        #expect(try reader.workers().isEmpty)
    }
}
