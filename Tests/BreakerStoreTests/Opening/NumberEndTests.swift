import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Numbers of rows that somebody has set to the highest there is: SQLite finds none above, and calls the disk full.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct NumberEndTests {
    static let changes = [
        "INSERT INTO event (id, kind, at) VALUES (9223372036854775807, 'reset', 0)",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE circuit SET id = 9223372036854775807 WHERE name = 'other'",
        "UPDATE sqlite_sequence SET seq = 9223372036854775806",
        // To SQLite a text is more than any number.
        "INSERT INTO sqlite_sequence VALUES ('zzz', 'x'); UPDATE sqlite_sequence SET seq = 9223372036854775807 "
            + "WHERE name <> 'zzz'",
        "INSERT INTO sqlite_sequence VALUES ('event', 'x'); UPDATE sqlite_sequence SET seq = 9223372036854775807 "
            + "WHERE seq <> 'x'",
    ]

    @Test(arguments: Self.changes, [false, true])
    func storeCountsOnFromTheOthers(change: String, isOpen: Bool) async throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        let first = try CircuitStore(path: path, configuration: Stores.configuration())
        _ = try first.breaker(Stores.config("other"))
        if !isOpen {
            first.close()
            Foreign.run(path, change)
        }
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        if isOpen { Foreign.run(path, change) }
        for name in ["b", "c", "d"] {
            let breaker = try store.breaker(Stores.config(name))
            for _ in 0..<2 { await breaker.recordFailure() }
        }
        #expect(await eventually { store.isHealthy })
        for name in ["e", "f"] {
            let breaker = try store.breaker(Stores.config(name))
            for _ in 0..<2 { await breaker.recordFailure() }
        }
        #expect(store.isHealthy)
        #expect(try await store.circuit(named: "f")?.state != .closed)
        #expect(
            await eventually {
                ((try? store.history()) ?? []).contains { $0.reason?.contains("exhausted SQLite") == true }
            })
        #expect(Foreign.value(path, "SELECT max(id) < 1000 FROM event") == "1")
        first.close()
    }

    /// The numbers of somebody else's table are nobody else's business.
    @Test func othersCountAsTheyLike() throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        Foreign.run(
            path,
            """
            CREATE TABLE mine (id INTEGER PRIMARY KEY AUTOINCREMENT);
            INSERT INTO mine VALUES (9000000000000000000); DELETE FROM mine
            """)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(Foreign.value(path, "SELECT seq FROM sqlite_sequence WHERE name = 'mine'") == "9000000000000000000")
        #expect(try !store.history().contains { $0.reason?.contains("exhausted SQLite") == true })
    }

    /// A store that keeps fewer events than before gets rid of the others little by little.
    @Test func fewerEventsAreKeptLittleByLittle() throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        Foreign.run(
            path,
            """
            INSERT INTO event (circuit, kind, at) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n
            WHERE x < 5000) SELECT 'a', 'reset', 1 FROM n
            """)
        var configuration = Stores.configuration()
        configuration.eventsKept = 100
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        var counts = [5_000]
        for _ in 0..<72 {
            try store.reset("a")
            counts.append(Int(Foreign.value(path, "SELECT count(*) FROM event WHERE circuit = 'a'") ?? "") ?? -1)
        }
        // At each twelfth event, which is an eighth of 100.
        let deleted = zip(counts, counts.dropFirst()).map { $0 + 1 - $1 }.filter { $0 > 0 }
        #expect(deleted.prefix(4) == [1_000, 1_000, 1_000, 1_000])
        #expect(deleted.count == 6 && counts.suffix(12).min() == 100 && counts.suffix(12).max() == 111)
    }
}
