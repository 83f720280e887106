import BreakerTestSupport
import Dispatch
import FoundationEssentials
import Testing

@testable import BreakerStore

/// What a listener is told, and what it costs.
@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
    private func makeStore(
        telling handler: (@Sendable (CircuitEvent) -> Void)? = nil, keeping count: Int = 10_000
    ) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        configuration.busyTimeout = .hangLimit
        configuration.durability = .processCrash
        configuration.eventsKept = count
        configuration.onEvent = handler
        let store = try CircuitStore.temporary(configuration: configuration)
        _ = try store.breaker(.init(name: "a"))
        return store
    }

    /// Waits until the thread has compared the header so often that it has read all that is committed by now.
    private func comparisons(_ count: Int, of store: CircuitStore, _ seen: CircuitCounters) async throws {
        let feed = try #require(store.backend.core).feed
        let goal = seen.count + count
        #expect(
            await eventually {
                feed.wake()
                return seen.count >= goal
            })
    }

    @Test func aSlowReaderGetsAllThatIsKept() async throws {
        let store = try self.makeStore()
        let events = store.events()
        for number in 0..<3_000 { try await store.reset("a", reason: "\(number)") }
        var iterator = events.makeAsyncIterator()
        for number in 0..<3_000 { #expect(await iterator.next()?.reason == "\(number)") }
        try await store.reset("a", reason: "later")
        #expect(await iterator.next()?.reason == "later")
        store.close()
        #expect(await iterator.next() == nil)
    }

    /// What it has not read when the store is closed.
    @Test func aSlowReaderGetsTheRestOfAClosedStore() async throws {
        let store = try self.makeStore()
        let (events, others) = (store.events(), store.events())
        for number in 0..<3_000 { try await store.reset("a", reason: "\(number)") }
        store.close()
        for stream in [events, others] {
            #expect(await stream.reduce(into: []) { $0.append($1.reason) } == (0..<3_000).map { "\($0)" })
        }
    }

    /// The history keeps ten events; a thousand are read ahead, and the gap after them is reported once.
    @Test func whatIsPrunedBeforeItIsReadIsMissedOnce() async throws {
        let store = try self.makeStore(keeping: 10)
        let core = try #require(store.backend.core)
        let events = store.events()
        for number in 0..<1_500 {
            try await store.reset("a", reason: "\(number)")
            // The thread reads as far ahead as it may.
            guard number < 1_000, let reader = core.feed.readers(of: ObjectIdentifier(store)).first else { continue }
            let newest = try await store.history(limit: 1).first?.id
            #expect(
                await eventually {
                    core.feed.wake()
                    return reader.cursor.id == newest
                })
        }
        var iterator = events.makeAsyncIterator()
        for number in 0..<1_000 { #expect(await iterator.next()?.reason == "\(number)") }
        let missed = await iterator.next()
        #expect(missed?.kind == .missed)
        let next = await iterator.next()
        let number = try #require(Int(next?.reason ?? ""))
        #expect(missed?.reason == "\(number - 1_000) events were deleted before they were read" && number > 1_400)
        #expect(missed.map(\.id) == next.map { $0.id - 1 })
        for number in (number + 1)..<1_500 { #expect(await iterator.next()?.reason == "\(number)") }
        store.close()
        #expect(await iterator.next() == nil)
    }

    /// A slow stream takes nothing from a handler, and to close waits for a slow handler.
    @Test func aHandlerGetsEverything() async throws {
        let heard = Locked<[String]>([])
        let goOn = DispatchSemaphore(value: 0)
        let store = try self.makeStore { event in
            if event.reason == "0" { goOn.wait() }
            heard.withLock { $0.append(event.reason ?? "") }
        }
        let events = store.events()
        for number in 0..<1_200 { try await store.reset("a", reason: "\(number)") }
        goOn.signal()
        store.close()
        #expect(heard.withLock { $0 } == (0..<1_200).map { "\($0)" })
        withExtendedLifetime(events) {}
    }

    /// The new file counts its events anew.
    @Test func theStreamGoesOnInAnotherFile() async throws {
        let store = try self.makeStore()
        let core = try #require(store.backend.core)
        let events = store.events()
        for _ in 0..<20 { try await store.reset("a") }
        let newest = try await store.history(limit: 1).first?.id
        let reader = try #require(core.feed.readers(of: ObjectIdentifier(store)).first)
        #expect(await eventually { reader.cursor.id == newest })
        let file = core.file
        for path in [file.path, file.log, file.index, file.lock] { try FileManager.default.removeItem(atPath: path) }
        #expect(await eventually { (try? store.history().contains { $0.kind == .restored }) ?? false })
        try await store.reset("a", by: "ann")
        store.close()
        let kinds = await events.reduce(into: []) { $0.append($1.kind) }
        #expect(kinds == Array(repeating: .reset, count: 20) + [.created, .degraded, .restored, .reset])
    }

    enum Return: CaseIterable, Sendable {
        /// The newest number is lower than the one that was read last, or it has another time.
        case toFewerEvents, toAnotherEvent
    }

    /// A restored backup repeats numbers that the reader knows.
    @Test(arguments: Return.allCases) func theStreamBeginsAgainInARestoredBackup(_ return: Return) async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = directory + "/a.db"
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        func open() throws -> CircuitStore { try CircuitStore(path: path, configuration: configuration) }
        do {
            let store = try open()
            _ = try store.breaker(.init(name: "a"))
            for number in 0..<2 { try await store.reset("a", reason: "\(number)") }
            store.close()
        }
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        let backup = try #require(Files.read(path))
        do {
            let store = try open()
            try await store.reset("a", reason: "gone")
            store.close()
        }
        configuration.access = .readOnly
        let reader = try open()
        defer { reader.close() }
        var iterator = reader.events(after: 0).makeAsyncIterator()
        for reason in ["0", "1", "gone"] { #expect(await iterator.next()?.reason == reason) }
        clock.advance(by: .seconds(1))
        Files.write(backup, to: path + "-backup")
        if `return` == .toAnotherEvent {
            Foreign.run(path + "-backup", "INSERT INTO event (circuit, kind, at, reason) VALUES ('a', 'reset', 1, '2')")
        }
        for file in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
        try FileManager.default.moveItem(atPath: path + "-backup", toPath: path)
        let missed = await iterator.next()
        #expect(missed?.kind == .missed && missed?.reason == "the file has returned to an earlier state")
        #expect(missed?.id == 0)
        let count = `return` == .toAnotherEvent ? 3 : 2
        for number in 0..<count { #expect(await iterator.next()?.reason == "\(number)") }
    }

    /// The consumer's task is cancelled, or the stream is dropped; then no thread looks any more.
    @Test func aStreamThatNobodyReadsLeavesNothing() async throws {
        let store = try self.makeStore()
        defer { store.close() }
        let feed = try #require(store.backend.core).feed
        let events = store.events()
        let task = Task { await events.reduce(into: 0) { count, _ in count += 1 } }
        try await store.reset("a")
        let reader = Locked(feed.readers(of: ObjectIdentifier(store)).first)
        #expect(reader.withLock { $0 != nil } && feed.isRunning)
        task.cancel()
        #expect(await task.value <= 1)
        #expect(feed.readers(of: ObjectIdentifier(store)).isEmpty)
        #expect(await eventually { !feed.isRunning })
        // A cancelled stream has ended for good.
        #expect(await events.first { _ in true } == nil)
        do { _ = store.events() }
        #expect(await eventually { !feed.isRunning })
        #expect(feed.readers(of: ObjectIdentifier(store)).isEmpty)
    }

    #if BREAKERSTORE_HOOKS
    @Test func aStreamThatBeginsWhileOthersReadLosesNothing() async {
        await #expect(processExitsWith: .success) {
            let store = try EventStreamTests().makeStore()
            let first = store.events()
            let second = Locked<AsyncStream<CircuitEvent>?>(nil)
            Hook.install { name in
                guard name == "events.reading", second.withLock({ $0 == nil }) else { return }
                let stream = store.events()
                second.withLock { $0 = stream }
                try? synchronously { try store.reset("a", by: "ann") }
            }
            try synchronously { try store.reset("a", by: "bob") }
            store.close()
            // The thread may read once before the reset by "bob", too.
            let names = await first.reduce(into: [String?]()) { $0.append($1.by) }
            #expect(names.count == 2 && names.contains("ann") && names.contains("bob"))
            let later = second.withLock { $0 }
            #expect(await later?.contains { $0.by == "ann" } == true)
        }
    }

    /// One thread compares the header for all of them, and reads each page once.
    @Test func aThousandStreamsCostOneComparison() async {
        await #expect(processExitsWith: .success) {
            let tests = EventStreamTests()
            let store = try tests.makeStore()
            let (comparisons, reads) = (CircuitCounters(), CircuitCounters())
            let streams = (0..<1_000).map { _ in store.events() }
            Hook.install { name in
                if name == "events.comparing" { comparisons.add() }
                if name == "events.reading" { reads.add() }
            }
            // Whatever came before the streams has been read.
            try await tests.comparisons(3, of: store, comparisons)
            let before = (comparisons.count, reads.count)
            try await store.reset("a")
            await withTaskGroup(of: CircuitEvent.Kind?.self) { group in
                for stream in streams { group.addTask { await stream.first { _ in true }?.kind } }
                for await kind in group { #expect(kind == .reset) }
            }
            #expect(reads.count - before.1 == 1)
            #expect(comparisons.count - before.0 < 500)
            store.close()
        }
    }

    @Test func nothingIsReadWhileTheHeaderStays() async {
        await #expect(processExitsWith: .success) {
            let heard = CircuitCounters()
            let tests = EventStreamTests()
            let store = try tests.makeStore { _ in heard.add() }
            let (comparisons, reads) = (CircuitCounters(), CircuitCounters())
            Hook.install { name in
                if name == "events.comparing" { comparisons.add() }
                if name == "events.reading" { reads.add() }
            }
            func readsWhileNothingHappens() async throws -> Int {
                try await tests.comparisons(3, of: store, comparisons)
                let before = reads.count
                try await tests.comparisons(100, of: store, comparisons)
                return reads.count - before
            }
            #expect(try await readsWhileNothingHappens() == 0)
            try await store.reset("a")
            #expect(await eventually { heard.count == 1 })
            // Somebody else's commit changes the header as well; a look at the circuit does not.
            #expect(try await readsWhileNothingHappens() == 0)
            let other = try Connection(path: store.backend.file.path, access: .readWrite)
            try other.configureForSharing()
            try other.prepare("INSERT INTO event (circuit, kind, at) VALUES ('a', 'reset', 0)").run()
            #expect(await eventually { heard.count == 2 })
            try await store.breaker(.init(name: "a")).run {}
            #expect(try await readsWhileNothingHappens() == 0)
            store.close()
        }
    }
    #endif

    /// A handler that blocks holds up neither a stream nor another store's handler.
    @Test func aHandlerThatBlocksHoldsUpNobody() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let store = try self.makeStore { _ in goOn.wait() }
        let heard = Locked(0)
        var configuration = store.configuration
        configuration.onEvent = { _ in heard.withLock { $0 += 1 } }
        let other = try CircuitStore(path: store.path, configuration: configuration)
        var iterator = store.events().makeAsyncIterator()
        for number in 0..<3 { try await store.reset("a", reason: "\(number)") }
        for number in 0..<3 { #expect(await iterator.next()?.reason == "\(number)") }
        #expect(await eventually { heard.withLock { $0 } == 3 })
        for _ in 0..<3 { goOn.signal() }
        other.close()
        store.close()
    }

    /// Who begins to listen in the moment in which the store is closed is not left waiting.
    @Test func aStreamEndsWithTheStoreHoweverLateItBegan() async throws {
        for _ in 0..<200 {
            let store = try StoreFixture.makeStore()
            async let events = store.events().reduce(into: 0) { count, _ in count += 1 }
            store.close()
            #expect(await events == 0)
        }
    }

    // MARK: - From an event on

    /// An alerter that was away hears all that happened meanwhile, though its buffer holds a thousand.
    @Test func nothingIsSkippedFromAnEventOn() async throws {
        let store = try self.makeStore()
        for number in 0..<2_500 { try await store.reset("a", reason: "\(number)") }
        let first = try #require(try await store.history(limit: 10_000).last)
        var iterator = store.events(after: first.id).makeAsyncIterator()
        for number in 1..<2_000 { #expect(await iterator.next()?.reason == "\(number)") }
        try await store.reset("a", reason: "now")
        for number in 2_000..<2_500 { #expect(await iterator.next()?.reason == "\(number)") }
        #expect(await iterator.next()?.reason == "now")
        store.close()
        #expect(await iterator.next() == nil)
    }

    /// The number is of a file that is gone.
    @Test func fromAnEventThatTheFileHasNotReached() async throws {
        let store = try self.makeStore()
        try await store.reset("a", reason: "first")
        var iterator = store.events(after: 1_000).makeAsyncIterator()
        #expect(await iterator.next()?.reason == "first")
        store.close()
    }
}
