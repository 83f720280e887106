import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// A clock of the user's own may show any time: no jump of it ends the process.
///
/// These tests pass by coming back: an overflow would end the process that tests.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ExtremeClockTests {
    /// A clock that shows what the test sets.
    private final class SetClock: HostClock {
        private let time = Locked((uptime: Duration.seconds(1_000), wall: 2e9))

        let bootID = "set"
        var uptime: Duration { self.time.withLock { $0.uptime } }
        var wallTime: Date { Date(timeIntervalSince1970: self.time.withLock { $0.wall }) }

        func set(_ uptime: Duration) { self.time.withLock { $0.uptime = uptime } }
        func set(wall: Double) { self.time.withLock { $0.wall = wall } }
        func sleep(for duration: Duration) async throws { try Task.checkCancellation() }
    }

    static let uptimes: [Duration] = [
        Duration(attoseconds: .min), .seconds(Int64.min), .microseconds(Int64.min), .microseconds(Int64.min + 1),
        .microseconds(-1 << 62), .seconds(-1), .zero, .seconds(1_000), .microseconds(1 << 62), .seconds(1 << 62),
        .microseconds(Int64.max), .seconds(Int64.max), Duration(attoseconds: .max),
    ]
    static let walls: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -0x1p63, -1e15, -1, 0, 1e15, 0x1p63, .greatestFiniteMagnitude,
        .infinity, .nan,
    ]

    private static func open(_ clock: SetClock) throws -> CircuitStore {
        var configuration = Stores.configuration()
        configuration.clock = clock
        return try CircuitStore(path: Workplace.here.store, configuration: configuration)
    }

    @Test(arguments: uptimes) func callsBeginAtOneTimeAndEndAtAnother(began: Duration) async throws {
        let clock = SetClock()
        clock.set(began)
        let store = try Self.open(clock)
        defer { store.close() }
        let long = Duration.seconds(3_000_000_000)
        let recovery = RecoveryRule(timeout: long, cap: long)
        let slow = SlowCallRule(longerThan: .seconds(1), share: 0.5, minimumCalls: 2, within: .seconds(60))
        let breaker = try store.breaker(.init(name: "slow", slow: slow, recovery: recovery))
        var policy = CallPolicy(timeout: .seconds(1), retry: .constant(maxRetries: 1, delay: .seconds(1)))
        policy.measuresDurations = true
        let other = try store.breaker(
            .init(name: "other", trip: .failures(2, within: long), recovery: recovery), calls: policy)
        for ended in Self.uptimes {
            for breaker in [breaker, other] {
                clock.set(began)
                _ = try? await breaker.run { clock.set(ended) }
                clock.set(began)
                _ = try? await breaker.run {
                    clock.set(ended)
                    throw CallFailure()
                }
                clock.set(began)
                synchronously { _ = try? breaker.run { clock.set(ended) } }
                clock.set(began)
                let permit = try? await breaker.admit()
                clock.set(ended)
                await permit?.fail()
                _ = ("\(breaker.state)", breaker.failureCount, breaker.isCallPermitted, "\(breaker.totals)")
            }
            try await store.hold("other", .open, for: long)
            clock.set(began)
            let read = "\(try await store.circuits()) \(try await store.history()) \(try await store.facts())"
            #expect(!read.isEmpty)
            try await store.release("other")
            try await store.reset("slow")
        }
        #expect(store.isHealthy, "\(store.health)")
    }

    /// A call that takes longer than any number can say is slow, as one of an hour is.
    @Test func theLongestCallIsSlow() async throws {
        let clock = SetClock()
        let store = try Self.open(clock)
        defer { store.close() }
        let slow = SlowCallRule(longerThan: .seconds(1), share: 0.5, minimumCalls: 2, within: .seconds(60))
        let breaker = try store.breaker(.init(name: "a", slow: slow))
        clock.set(.microseconds(-1 << 62))
        try await breaker.run { clock.set(.seconds(Int64.max)) }
        #expect(breaker.totals.slow == 1)
        clock.set(.microseconds(1 << 62))
        try await breaker.run { clock.set(.seconds(Int64.min)) }
        #expect(breaker.totals.slow == 1)
    }

    /// A store that has lost its file says since when, in its health and on the board.
    @Test(arguments: uptimes, walls) func aLossIsDated(uptime: Duration, wall: Double) throws {
        let clock = SetClock()
        let store = try Self.open(clock)
        defer { store.close() }
        let core = try #require(store.backend.core)
        try store.breaker(Stores.config()).recordFailure()
        clock.set(wall: wall)
        clock.set(uptime)
        // The store's thread would bring the file back: this loss is none of the life's.
        let health = StoreHealth.degraded(since: core.loss(.moved("")).since, error: .moved(""))
        #expect("\(health)".hasPrefix("degraded since"))
        #expect(health == health, "a listener would hear of a change again and again")
        core.lose(.moved(""))
        clock.set(wall: 0)
        core.publishHealth()
    }

    /// A file that is set aside gets the time as a part of its name.
    @Test(arguments: walls) func aFileIsMovedAside(at wall: Double) throws {
        let path = try Workplace.here.store
        Files.write([1], to: path)
        let moved = try MovedFile(path, as: "corrupt", at: Date(timeIntervalSince1970: wall))
        #expect(moved.newName.hasPrefix(path + ".corrupt-"))
        #expect(Files.read(moved.newName) == [1])
    }

    /// The default of a clock's `sleep`, which a user's code may call, too.
    @Test(arguments: uptimes) func sleepsForAnyTime(duration: Duration) async throws {
        let sleep = Task { try await SystemHostClock().sleep(for: duration) }
        sleep.cancel()
        _ = await sleep.result
    }
}
