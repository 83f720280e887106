import BreakerTestSupport
import Dispatch
import FoundationEssentials
import Testing

@testable import BreakerStore

/// What a listener is told, and what it costs.
@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
    private func makeStore(telling handler: (@Sendable (CircuitEvent) -> Void)? = nil) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        configuration.busyTimeout = .hangLimit
        configuration.durability = .processCrash
        configuration.eventsKept = 10_000
        configuration.onEvent = handler
        let store = try CircuitStore.temporary(configuration: configuration)
        _ = try store.breaker(.init(name: "a"))
        return store
    }

    /// Has the thread hand over all that there is.
    private func flush(_ store: CircuitStore) throws {
        try #require(store.backend.core).hub.flush(until: store.deadline)
    }

    @Test func aSlowReaderIsToldOnceHowManyItLost() async throws {
        let store = try self.makeStore()
        let events = store.events()
        for number in 0..<1_500 { try await store.reset("a", reason: "\(number)") }
        try self.flush(store)
        var iterator = events.makeAsyncIterator()
        for number in 0..<1_000 { #expect(await iterator.next()?.reason == "\(number)") }
        // It need not wait until something else happens.
        let missed = await iterator.next()
        #expect(missed?.kind == .missed)
        #expect(missed?.reason == "500 events were lost")
        try await store.reset("a", reason: "later")
        let later = await iterator.next()
        #expect(later?.reason == "later")
        #expect(missed.map(\.id) == later.map { $0.id - 1 })
        store.close()
        #expect(await iterator.next() == nil)
    }

    /// A slow stream takes nothing from a handler, and to close waits for a slow handler.
    @Test func aHandlerIsToldEverything() async throws {
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
        let events = store.events()
        for _ in 0..<20 { try await store.reset("a") }
        try self.flush(store)
        let file = try #require(store.backend.core?.file)
        for path in [file.path, file.log, file.index, file.lock] { try FileManager.default.removeItem(atPath: path) }
        #expect(await eventually { (try? store.history().contains { $0.kind == .restored }) ?? false })
        try await store.reset("a", by: "ann")
        store.close()
        let kinds = await events.reduce(into: []) { $0.append($1.kind) }
        #expect(kinds == Array(repeating: .reset, count: 20) + [.created, .degraded, .restored, .reset])
    }

    /// A stream from the past whose reader is slow gets the number of pruned events once.
    @Test func prunedEventsAreMissedOnce() async {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CircuitEvent.self, bufferingPolicy: .bufferingOldest(2))
        let listener = EventHub.Listener(.stream(continuation), from: HistoryPosition(file: 1, id: 0), upTo: 10)
        let rows = [1, 5, 6].map { id in
            StoredEvent(
                id: id, transition: Transition(kind: .reset), at: StoreTime(microseconds: 0))
        }
        let page = Database.HistoryPage(events: rows, last: 6)
        var iterator = stream.makeAsyncIterator()
        var read: [Int64?] = []
        var place: (last: Int64, isHeldUp: Bool) = (0, true)
        for _ in 0..<9 where place.isHeldUp {
            place = EventHub.deliver(page, after: place.last, of: 1, to: [listener]) {
                CircuitEvent($0, { _ in false }, { _ in Date() })
            }
            read.append(await iterator.next()?.id)
        }
        continuation.finish()
        while let event = await iterator.next() { read.append(event.id) }
        // The event of 4 stands for those from 2 on.
        #expect(read == [1, 4, 5, 6])
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
    #endif

    /// Events are read through a connection that is opened when it is needed.
    @Test func nothingIsReadWhileTheHeaderStays() async throws {
        let store = try self.makeStore()
        defer { store.close() }
        let core = try #require(store.backend.core)
        let heard = Locked(0)
        let subscription = store.listen(to: .handler { _ in heard.withLock { $0 += 1 } })
        defer { core.remove(subscription) }
        func isReadFor(_ rounds: Int) throws -> Bool {
            core.viewer.close()
            for _ in 0..<rounds { subscription.hub.flush(until: store.deadline) }
            return core.viewer.isIdle
        }
        subscription.hub.flush(until: store.deadline)
        #expect(try !isReadFor(100))
        try await store.reset("a")
        subscription.hub.flush(until: store.deadline)
        #expect(heard.withLock { $0 } == 1)
        // Somebody else's commit changes the header as well; a look at the circuit does not.
        #expect(try !isReadFor(100))
        let other = try Connection(path: store.backend.file.path, access: .readWrite)
        try other.configureForSharing()
        try other.prepare("INSERT INTO event (circuit, kind, at) VALUES ('a', 'reset', 0)").run()
        subscription.hub.flush(until: store.deadline)
        #expect(heard.withLock { $0 } == 2)
        try await store.breaker(.init(name: "a")).run {}
        #expect(try !isReadFor(100))
    }

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
