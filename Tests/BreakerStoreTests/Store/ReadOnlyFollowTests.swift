import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// A store that only reads its file tells what others do to it.
@Suite(.timeLimit(.minutes(10))) struct ReadOnlyFollowTests {
    private let fixture: StoreFixture

    init() throws {
        self.fixture = try StoreFixture()
        _ = try self.fixture.breaker()
    }

    private func reader(_ change: (inout CircuitStore.Configuration) -> Void = { _ in }) throws -> CircuitStore {
        var configuration = Stores.configuration()
        configuration.clock = self.fixture.clock
        configuration.access = .readOnly
        change(&configuration)
        return try CircuitStore(path: self.fixture.store.path, configuration: configuration)
    }

    @Test func eventsFollowTheFile() async throws {
        let heard = Locked<[String?]>([])
        let reader = try self.reader { $0.onEvent = { event in heard.withLock { $0.append(event.reason) } } }
        try await self.fixture.store.reset("a", reason: "0")
        var iterator = reader.events(after: 0).makeAsyncIterator()
        for number in 1..<4 { try await self.fixture.store.reset("a", reason: "\(number)") }
        for number in 0..<4 {
            let event = await iterator.next()
            #expect(event?.reason == "\(number)")
            #expect(event?.isOwn == false)
        }
        #expect(await eventually { heard.withLock { $0 } == ["0", "1", "2", "3"] })
        reader.close()
        #expect(await iterator.next() == nil)
    }

    @Test func nothingIsSkippedFromAnEventOn() async throws {
        // One commit for all of them: each reset is synced, which takes long on a slow disk.
        Foreign.run(
            self.fixture.store.path,
            """
            WITH RECURSIVE number(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < 1499)
            INSERT INTO event (at, circuit, kind, was, becomes, reason)
            SELECT (SELECT reserved FROM clock), 'a', 'reset', 'closed', 'closed', n FROM number
            """)
        let first = try #require(try await self.fixture.store.history(limit: 10_000).last { $0.kind == .reset })
        let reader = try self.reader()
        defer { reader.close() }
        var iterator = reader.events(after: first.id).makeAsyncIterator()
        var expected = Int(first.reason ?? "") ?? -1
        while expected < 1_499 {
            expected += 1
            try #require(await iterator.next()?.reason == "\(expected)")
        }
    }

    /// The file is gone for a while.
    @Test func healthFollowsTheFile() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        try CircuitStore(path: path).close()
        let heard = Locked<[Bool]>([])
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        configuration.onHealth = { health in heard.withLock { $0.append(health.isHealthy) } }
        let reader = try CircuitStore(path: path, configuration: configuration)
        var changes = reader.healthChanges().makeAsyncIterator()
        #expect(await changes.next() == .healthy)
        // A watch may rely on the stamp of a file that was not changed lately.
        let past = Date(timeIntervalSinceNow: -3_600)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
        #expect(await changes.next()?.isHealthy == false)
        #expect(!reader.health.isHealthy)
        // Each looks for itself.
        #expect(await eventually { heard.withLock { $0 } == [false] })
        try FileManager.default.moveItem(atPath: path + "-away", toPath: path)
        #expect(await changes.next() == .healthy)
        #expect(reader.health == .healthy)
        #expect(await eventually { heard.withLock { $0 } == [false, true] })
        reader.close()
        #expect(await changes.next() == .closed)
        #expect(await changes.next() == nil)
        #expect(await eventually { heard.withLock { $0 } == [false, true, false] })
    }
}
