import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// What code can see of circuits and their history.
@Suite(.timeLimit(.minutes(10))) struct DecisionReadTests {
    private let fixture: StoreFixture
    private var store: CircuitStore { self.fixture.store }

    init() throws { self.fixture = try StoreFixture() }

    // MARK: - Pages

    private func fill() async throws {
        for name in ["a", "b", "B", "c", "ä"] {
            _ = try self.store.breaker(.init(name: name, group: name == "b" || name == "c" ? "g" : nil))
        }
        try await self.store.hold("c", .closed)
        let tripping = try self.store.breaker(.init(name: "b", group: "g", trip: .consecutiveFailures(1)))
        await tripping.recordFailure()
    }

    /// The bytes of the names are in order, as SQLite has them.
    @Test func pagesFollowEachOther() async throws {
        try await self.fill()
        var names: [String] = []
        var pages = 0
        while true {
            let page = try await self.store.circuits(matching: "*", after: names.last, limit: 2)
            if page.isEmpty { break }
            #expect(page.count <= 2)
            names += page.map(\.name)
            pages += 1
        }
        #expect(names == ["B", "a", "b", "c", "ä"])
        #expect(pages == 3)
        #expect(try await self.store.circuits(matching: "*", limit: 0).isEmpty)
        #expect(try await self.store.circuits(matching: "*", limit: -1).isEmpty)
        #expect(try await self.store.circuits(matching: "*", after: "ä", limit: .max).isEmpty)
    }

    @Test(
        arguments: [
            ("*", nil, true, ["B", "a", "ä"]), ("*", nil, false, ["b", "c"]), ("*", "g", nil, ["b", "c"]),
            ("[ab]", nil, nil, ["a", "b"]), ("*", "g", true, []), ("*", "nobody", nil, []),
        ] as [(String, String?, Bool?, [String])])
    func pagesHoldWhatIsWanted(
        _ pattern: String, _ group: String?, _ isClosed: Bool?, _ names: [String]
    ) async throws {
        try await self.fill()
        let found = try await self.store.circuits(matching: pattern, group: group, isClosed: isClosed, limit: 10)
        #expect(found.map(\.name) == names)
        // Filters count before the limit.
        let first = try await self.store.circuits(matching: pattern, group: group, isClosed: isClosed, limit: 1)
        #expect(first.map(\.name) == Array(names.prefix(1)))
    }

    // MARK: - The outage

    @Test func showsSinceWhenTheOutageLasts() async throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(1))
        #expect(try await breaker.snapshot().trippedSince == nil)
        await breaker.recordFailure()
        let first = try await breaker.snapshot()
        #expect(first.trippedSince == first.since)
        for _ in 0..<3 {
            self.fixture.clock.advance(by: .seconds(30))
            await breaker.recordFailure()
        }
        let later = try await breaker.snapshot()
        #expect(later.trippedSince == first.trippedSince)
        #expect(later.since == first.since.addingTimeInterval(90))
        try await breaker.hold(.closed)
        let held = try await breaker.snapshot()
        #expect(held.trippedSince == first.trippedSince)
        if case .open? = held.beneath {} else { Issue.record("beneath \(String(describing: held.beneath))") }
        try await breaker.release()
        #expect(try await breaker.snapshot().beneath == nil)
        try await breaker.reset()
        #expect(try await breaker.snapshot().trippedSince == nil)
    }

    // MARK: - The history

    @Test func goesOnBehindAnEvent() async throws {
        let breaker = try self.fixture.breaker()
        _ = try self.fixture.breaker("other")
        for number in 0..<5 { try await breaker.reset(reason: "\(number)") }
        try await self.store.reset("other", reason: "5")
        let all = try await self.store.history()
        #expect(all.map(\.reason) == ["5", "4", "3", "2", "1", "0"])
        // The oldest come first to the one who goes on, so that none is skipped.
        var last = all[5].id
        var told: [String?] = []
        while let newest = try await self.store.history(after: last, limit: 2).first {
            told += try await self.store.history(after: last, limit: 2).reversed().map(\.reason)
            last = newest.id
        }
        #expect(told == ["1", "2", "3", "4", "5"])
        #expect(try await breaker.history(after: all[3].id).map(\.reason) == ["4", "3"])
        #expect(try await breaker.history(limit: 1).map(\.reason) == ["4"])
        #expect(try await self.store.history(after: all[0].id).isEmpty)
        #expect(try await self.store.history(after: .min, limit: 0).isEmpty)
        // Another file has taken the place of the one with this number: it begins with the oldest, as a stream does.
        #expect(try await self.store.history(after: 5_000) == all)
        #expect(try await self.store.history(after: .max, limit: 1) == [all[5]])
        #expect(try await breaker.history(after: 5_000).map(\.reason) == ["4", "3", "2", "1", "0"])
        // The events may be gone with their circuits: their numbers were reached all the same.
        try synchronously { try self.store.forget("other") }
        let newest = try await self.store.history(limit: 1)[0].id
        #expect(try await self.store.history(after: newest).isEmpty)
    }

    // MARK: - The file

    @Test func showsWhatTheFileIs() async throws {
        _ = try self.fixture.breaker()
        let facts = try await self.store.facts()
        #expect(facts.schemaVersion == Versions.schema)
        #expect(facts.sqliteVersion == Versions.sqlite)
        #expect(facts.libraryVersion == Versions.library)
        #expect(facts.circuitCount == 1)
        #expect(facts.fileSize > 0)
        #expect(facts.unreadable.isEmpty)
    }

    @Test func aCircuitThatIsGoneHasNoSnapshot() async throws {
        let breaker = try self.fixture.breaker()
        try await self.store.forget("a", by: "ann", reason: "gone")
        let error = await #expect(throws: BreakerStoreError.self) { try await breaker.snapshot() }
        #expect(error?.code == .noSuchCircuit)
        let event = try await breaker.history().first
        #expect(event?.kind == .forgotten && event?.by == "ann" && event?.reason == "gone")
    }

    /// Nothing that asynchronous code asks for blocks a thread of the cooperative pool.
    @Test func asynchronousFormsBlockNoThreadOfThePool() async throws {
        // However long the machine takes to let the other tasks run: nobody's patience ends meanwhile.
        let fixture = try StoreFixture(busyTimeout: .seconds(3_600))
        let breaker = try fixture.breaker()
        let lock = try WriteLock(fixture.store)
        let changes = (0..<100).map { number in
            Task.detached { try await breaker.reset(reason: "\(number)") }
        }
        // While all of them wait, other tasks run.
        for _ in 0..<100 { await Task.detached {}.value }
        try lock.release()
        for change in changes { try await change.value }
        #expect(try await breaker.history(limit: 1_000).count == 100)
    }

    @Test func aClosedStoreSaysSo() async throws {
        let breaker = try self.fixture.breaker()
        self.store.close()
        await #expect(throws: BreakerStoreError.self) { try await self.store.circuits() }
        await #expect(throws: BreakerStoreError.self) { try await self.store.facts() }
        await #expect(throws: BreakerStoreError.self) { try await breaker.probe() }
    }
}
