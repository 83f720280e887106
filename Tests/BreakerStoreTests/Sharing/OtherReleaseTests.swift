import BreakerTestSupport
import Testing

@testable import BreakerStore

/// A program of release 0.1.2 beside one of this version, on one file: a rolling deployment, and the way back.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OtherReleaseTests {
    @Test func countTogetherAndObeyEachOther() async throws {
        let place = try Workplace.here
        let older = try place.start("breaker-worker_0_1_2", [place.clock.path])
        try await older.ask("open \(place.store)")
        let newer = try await place.openWorker()
        for worker in [older, newer] { try await worker.ask("breaker users failures=3 recovery=30") }
        try await older.ask("fail users 2")
        #expect(try await newer.ask("look users").number("counted") == 2)
        try await newer.ask("fail users")
        for worker in [older, newer] { #expect(try await worker.ask("call users").number("refused") == 1) }
        place.clock.advance(by: .seconds(30))
        #expect(try await older.ask("call users").number("ran") == 1)
        #expect(try await newer.ask("look users")["state"] == "closed")
        try await newer.ask("hold users open")
        #expect(try await older.ask("call users").number("refused") == 1)
        try await older.ask("release users")
        #expect(try await newer.ask("call users").number("ran") == 1)
        // The newest registration rules, whichever version it comes from.
        try await newer.ask("breaker users failures=7 recovery=30")
        try await older.ask("fail users 4")
        #expect(try await newer.ask("call users").number("ran") == 1)
        for worker in [older, newer] { #expect(try await worker.ask("health")["health"] == "healthy") }
        #expect(await older.quit() == 0)
    }

    /// What others have in a file of 0.1.2 is there still once a newer program has added what that lacks.
    @Test(arguments: [
        "CREATE TABLE mine (x); CREATE INDEX mine_of ON mine (x)", "CREATE VIEW mine AS SELECT * FROM circuit",
    ])
    func newerProgramKeepsWhatOthersHave(sql: String) async throws {
        let path = try await Self.makeOlder(adding: sql)
        for _ in 0..<2 {
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            defer { store.close() }
            #expect(try await store.circuit(named: "users") != nil)
            let breaker = try store.breaker(Stores.config("own"))
            for _ in 0..<2 { await breaker.recordFailure() }
            #expect(!breaker.isCallPermitted)
            #expect(store.isHealthy)
            _ = try await store.forget("own")
        }
        #expect(Foreign.value(path, "PRAGMA user_version") == "1001")
        #expect(Foreign.value(path, "SELECT count(*) > 0 FROM sqlite_schema WHERE name LIKE 'mine%'") == "1")
    }

    /// A file of 0.1.2 is migrated only as that made it, to the byte, and if nobody has taken a name that a step needs.
    @Test(arguments: [
        ("ALTER TABLE circuit ADD COLUMN owner TEXT", "the table 'circuit'"),
        ("CREATE TABLE Tally (x)", "the table 'Tally'"), ("CREATE VIEW fleet AS SELECT 1", "the view 'fleet'"),
        ("CREATE INDEX mine ON event (at)", "the index 'mine'"),
        ("DROP INDEX event_by_circuit", "the index 'event_by_circuit' is missing"),
    ])
    func changedFileIsNotMigrated(sql: String, object: String) async throws {
        let path = try await Self.makeOlder(adding: sql)
        let bytes = Files.read(path)
        let error = #expect(throws: BreakerStoreError.self) {
            try CircuitStore(path: path, configuration: Stores.configuration())
        }
        #expect(error?.code == .foreignSchema)
        #expect(error?.message.contains(object) == true, "\(String(describing: error))")
        let isUntouched = Files.read(path) == bytes
        #expect(isUntouched)
        #expect(Foreign.value(path, "PRAGMA user_version") == "1000")
    }

    /// A store of 0.1.2 with a circuit that has failed once, and what somebody has added to it.
    private static func makeOlder(adding sql: String) async throws -> String {
        let place = try Workplace.here
        let older = try place.start("breaker-worker_0_1_2", [place.clock.path])
        try await older.ask("open \(place.store)")
        try await older.ask("breaker users failures=3 recovery=30")
        try await older.ask("fail users")
        #expect(await older.quit() == 0)
        #expect(Foreign.value(place.store, "PRAGMA user_version") == "1000")
        Foreign.run(place.store, sql)
        return place.store
    }
}
