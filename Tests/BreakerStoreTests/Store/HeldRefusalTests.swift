import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerStore

/// A refusal by a hold names the operator and the reason, in place of an error from before the hold.
@Suite(.timeLimit(.minutes(10))) struct HeldRefusalTests {
    private let fixture: StoreFixture
    private let breaker: CircuitBreaker

    init() throws {
        self.fixture = try StoreFixture()
        self.breaker = try self.fixture.breaker()
        synchronously { self.breaker.recordFailure(CallFailure()) }
    }

    private func refusal(_ breaker: CircuitBreaker) throws -> CircuitOpenError {
        try #require(throws: CircuitOpenError.self) { try synchronously { try breaker.run {} } }
    }

    @Test(arguments: [nil, Duration.seconds(60)])
    func saysWhoHoldsTheCircuitAndWhy(_ duration: Duration?) async throws {
        try await self.breaker.hold(.open, for: duration, by: "ann", reason: "maintenance")
        let hold = try #require(try await self.breaker.snapshot().hold)
        #expect(hold.by == "ann" && hold.reason == "maintenance" && hold.state == .open)
        #expect((hold.until == nil) == (duration == nil))
        // The first refusal looks at the file, the others have a kept answer.
        for _ in 0..<2 {
            let refusals = [
                await #expect(throws: CircuitOpenError.self) { try await self.breaker.run {} },
                #expect(throws: CircuitOpenError.self) { try synchronously { try self.breaker.run {} } },
                await #expect(throws: CircuitOpenError.self) { _ = try await self.breaker.admit() },
                await #expect(throws: CircuitOpenError.self) {
                    try await self.breaker.run({ 1 }, failingWhen: { _ in false })
                },
            ]
            for refusal in refusals {
                #expect(refusal?.cause == .held && refusal?.retryAfter == duration)
                #expect(refusal?.hold == hold)
                #expect(refusal?.lastError == nil)
                #expect(refusal?.description.contains(" is held open by ann until ") == true)
                #expect(refusal?.description.hasSuffix("; reason: maintenance") == true)
            }
        }
        #expect(try await self.breaker.snapshot().lastError == "CallFailure")
    }

    @Test func aRefusalWithoutAHoldNamesNone() async throws {
        try await self.breaker.hold(.open, for: .seconds(10), by: "ann")
        #expect(try self.refusal(self.breaker).hold?.by == "ann")
        self.fixture.clock.advance(by: .seconds(10))
        for _ in 0..<3 { await self.breaker.recordFailure(CallFailure()) }
        let refusal = try self.refusal(self.breaker)
        #expect(refusal.cause == .open && refusal.hold == nil && refusal.lastError == "CallFailure")
    }

    @Test func theNewestHoldIsNamed() async throws {
        for name in ["ann", "bob", "cy"] {
            try await self.breaker.hold(.open, by: name, reason: "for \(name)")
            let refusal = try self.refusal(self.breaker)
            #expect(refusal.hold?.by == name && refusal.hold?.reason == "for \(name)")
        }
        try await self.breaker.hold(.closed, by: "dan")
        try synchronously { try self.breaker.run {} }
    }

    /// Another program may correct the reason without a new epoch.
    @Test func aReasonThatChangesIsNamed() async throws {
        try await self.breaker.hold(.open, by: "ann", reason: "maintenance")
        #expect(try self.refusal(self.breaker).hold?.reason == "maintenance")
        self.write("UPDATE circuit SET hold_reason = 'the provider moves'")
        #expect(try self.refusal(self.breaker).hold?.reason == "the provider moves")
    }

    /// The file can be read, and not written to.
    @Test func aDegradedStoreNamesTheHold() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(100))
        let breaker = try fixture.breaker()
        try fixture.store.patiently { try $0.hold("a", .open, by: "ann", reason: "maintenance") }
        let lock = try WriteLock(fixture.store)
        let other = try fixture.store.breaker(.init(name: "other"))
        await other.recordFailure()
        #expect(!fixture.isHealthy)
        #expect(try self.refusal(breaker).hold?.by == "ann")
        try lock.release()
    }

    // MARK: - Commits of others in the midst of a call

    /// The operator's commit comes between the look of a probe's caller, and the commit that would claim the slot.
    @Test(arguments: [true, false]) func aHoldThatComesBeforeTheClaimIsNamed(isAsync: Bool) async throws {
        let clock = HookedClock()
        let (store, breaker) = try self.hooked(clock)
        defer { store.close() }
        for _ in 0..<3 { await breaker.recordFailure(CallFailure()) }
        clock.advance(by: .seconds(30))
        // No kept answer counts any longer, so that the call first reads the clock once it has looked.
        Foreign.run(store.path, "UPDATE worker SET name = 'other'", keepsLog: true)
        clock.atNextReading { Self.holdOpen(store) }
        let refusal =
            isAsync
            ? await #expect(throws: CircuitOpenError.self) { try await breaker.run {} } : try self.refusal(breaker)
        #expect(!clock.isHooked && refusal?.cause == .held)
        #expect(refusal?.hold?.by == "ann" && refusal?.hold?.reason == "maintenance")
        #expect(refusal?.lastError == nil)
    }

    /// A reading that another commit has overtaken is not kept, but refuses.
    @Test func aHoldThatWasReadJustBeforeACommitIsNamed() async throws {
        let clock = HookedClock()
        let (store, breaker) = try self.hooked(clock)
        defer { store.close() }
        await breaker.recordFailure(CallFailure())
        Self.holdOpen(store)
        clock.atNextReading { Foreign.run(store.path, "UPDATE worker SET name = 'other'", keepsLog: true) }
        let refusal = try self.refusal(breaker)
        #expect(!clock.isHooked && refusal.cause == .held)
        #expect(refusal.hold?.by == "ann" && refusal.lastError == nil)
    }

    private func hooked(_ clock: HookedClock) throws -> (CircuitStore, CircuitBreaker) {
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = .hangLimit
        let store = try CircuitStore.temporary(configuration: configuration)
        return (store, try store.breaker(.init(name: "a", trip: .failures(3, within: .seconds(60)))))
    }

    private func write(_ sql: String) { Foreign.run(self.fixture.store.path, sql, keepsLog: true) }

    /// Holds the circuit as another process does.
    private static func holdOpen(_ store: CircuitStore) {
        Foreign.run(
            store.path,
            """
            UPDATE circuit SET hold = 'open', hold_since = since, hold_by = 'ann', hold_reason = 'maintenance',
                epoch = epoch + 1, window_generation = window_generation + 1
            """, keepsLog: true)
    }
}

/// A clock in whose next reading by a thread something else happens.
private final class HookedClock: HostClock {
    private let clock = ManualHostClock()
    /// The store's own threads read the clock, too.
    private let hook = Locked<(thread: ObjectIdentifier, body: @Sendable () -> Void)?>(nil)

    var bootID: String { self.clock.bootID }
    var wallTime: Date { self.clock.wallTime }
    var isHooked: Bool { self.hook.withLock { $0 != nil } }
    var uptime: Duration {
        let hook = self.hook.withLock { hook in
            guard hook?.thread == Self.thread else { return nil as (@Sendable () -> Void)? }
            defer { hook = nil }
            return hook?.body
        }
        hook?()
        return self.clock.uptime
    }

    func advance(by duration: Duration) { self.clock.advance(by: duration) }

    /// Lets the calling thread's next reading run `body`.
    func atNextReading(_ body: @escaping @Sendable () -> Void) {
        self.hook.withLock { $0 = (Self.thread, body) }
    }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }
}
