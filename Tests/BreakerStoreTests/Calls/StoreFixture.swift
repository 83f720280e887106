import BreakerTestSupport
import Synchronization

@testable import BreakerStore

/// A store of a test's own with a clock that the test moves; closed with the fixture.
final class StoreFixture: Sendable {
    let clock = ManualHostClock()
    let store: CircuitStore

    init(busyTimeout: Duration = .hangLimit) throws {
        self.store = try Self.makeStore(self.clock, busyTimeout: busyTimeout)
    }

    /// A store that is as good on a machine that is busy: no time passes, and nobody's patience ends.
    static func makeStore(
        _ clock: ManualHostClock = ManualHostClock(),
        busyTimeout: Duration = .hangLimit
    ) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = busyTimeout
        return try CircuitStore.temporary(configuration: configuration)
    }

    deinit { self.store.close() }

    func breaker(
        _ name: String = "a",
        trip: TripRule = .failures(3, within: .seconds(60)),
        probes: ProbeRule = ProbeRule(),
        calls: CallPolicy = CallPolicy()
    ) throws -> CircuitBreaker {
        let recovery = RecoveryRule(timeout: .seconds(30))
        return try self.store.breaker(
            .init(name: name, group: "G", trip: trip, recovery: recovery, probes: probes), calls: calls)
    }

    /// A breaker whose circuit is open, and its time has come.
    func dueBreaker(
        _ name: String = "a",
        probes: ProbeRule = ProbeRule(),
        calls: CallPolicy = CallPolicy()
    ) async throws -> CircuitBreaker {
        let breaker = try self.breaker(name, trip: .consecutiveFailures(1), probes: probes, calls: calls)
        await breaker.recordFailure(CallFailure())
        self.clock.advance(by: .seconds(30))
        // The store's thread would save the totals at any moment from now on. Tests count commits.
        if let core = self.store.backend.core {
            core.saveCountersIfDue()
            try await core.commit(until: self.store.deadline) { (_) throws(BreakerStoreError) in }
        }
        return breaker
    }

    /// Lets so much time pass each time that a call waits by the clock, so many times.
    @discardableResult
    func pass(_ time: Duration, times: Int = 1) -> Task<Void, Never> {
        Task.detached { [clock] in
            for _ in 0..<times {
                await clock.waitForSleepers()
                clock.advance(by: time)
            }
        }
    }

    var core: StoreCore? { self.store.backend.core }

    /// How many transactions have been committed to the file, modulo 2^32: the wal-index header counts them.
    var commits: UInt64 {
        guard let page = unsafe self.store.header?.page else { return 0 }
        return unsafe page[1] & 0xffff_ffff
    }

    var isHealthy: Bool { self.store.isHealthy }
}

extension CircuitStore {
    /// Does to the file what must not fail, however busy the machine is: through another store, which is patient.
    func patiently(_ body: (CircuitStore) throws -> Void) throws {
        var configuration = self.configuration
        configuration.busyTimeout = .hangLimit
        let other = try CircuitStore(path: self.backend.file.path, configuration: configuration)
        defer { other.close() }
        try body(other)
    }

    var isHealthy: Bool { self.health.isHealthy }

    /// The header of the wal-index; nil while the file is not open.
    var header: WalIndex? {
        self.backend.core?.answers.source.withLock { source in
            source.isOpen ? source.headers.last.map { unsafe WalIndex(page: $0.page) } : nil
        }
    }
}
