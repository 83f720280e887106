import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Calls that one process lets through, and another one reports.
@Suite(.timeLimit(.minutes(10))) struct PortablePermitTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    /// A process that lives as long as the test, and is not this one.
    private static func parent() throws -> RunningProcess { try #require(RunningProcess(pid: getppid())) }

    private static func own() throws -> RunningProcess { try #require(RunningProcess(pid: getpid())) }

    private static let rules: [TripRule] = [
        .failures(3, within: .seconds(60)), .consecutiveFailures(3),
        .failureRate(0.9, minimumCalls: 100, within: .seconds(60)),
    ]

    @Test(arguments: Self.rules) func aFailureCountsOnce(rule: TripRule) throws {
        let breaker = try self.fixture.breaker(trip: rule)
        let permit = try breaker.admitPortable()
        let reporter = try Self.parent().reporter
        #expect(try breaker.finish(permit, .failure, error: "down", reporter: reporter) == .done)
        for _ in 0..<2 {
            self.fixture.clock.advance(by: .seconds(1))
            #expect(try breaker.finish(permit, .failure, reporter: reporter) == .late)
        }
        #expect(breaker.totals.failed == 1)
        #expect(breaker.failureCount == (rule.count == nil ? 0 : 1))
        let snapshot = try #require(try self.fixture.store.circuit(named: "a"))
        if rule.count == nil {
            #expect(snapshot.recent?.failed == 1)
        } else {
            #expect(snapshot.lastError == "down")
        }
    }

    /// Rows that only show what was counted must not stay for ever.
    @Test func theRowsOfAFailureRateRuleGoWithItsWindow() throws {
        let breaker = try self.fixture.breaker(trip: .failureRate(0.9, minimumCalls: 100, within: .seconds(60)))
        for _ in 0..<5 {
            #expect(try breaker.finish(breaker.admitPortable(), .failure, reporter: Self.parent().reporter) == .done)
            self.fixture.clock.advance(by: .seconds(40))
        }
        let rows = try self.fixture.core?.read { (database) throws(BreakerStoreError) in
            try database.first("SELECT count(*) FROM failure") { $0.integer(0) }
        }
        #expect(rows == 2)
    }

    @Test func aSuccessForgetsFailuresInARow() throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(3))
        let (failed, good) = (try breaker.admitPortable(), try breaker.admitPortable())
        #expect(try breaker.finish(failed, .failure) == .done)
        #expect(breaker.failureCount == 1)
        #expect(try breaker.finish(good, .success) == .done)
        #expect(breaker.failureCount == 0)
        #expect(breaker.totals.succeeded == 1)
        #expect(try breaker.finish(try breaker.admitPortable(), .ignored) == .done)
        #expect(breaker.totals.ignored == 1)
    }

    @Test(arguments: [Verdict.success, .failure, .ignored]) func aChangedCircuitTakesNoReport(verdict: Verdict) throws {
        let breaker = try self.fixture.breaker()
        let permit = try breaker.admitPortable()
        try self.fixture.store.reset("a")
        #expect(try breaker.finish(permit, verdict) == .late)
        #expect(breaker.failureCount == 0)
    }

    @Test func aPermitOfAnotherFileOrBootCountsNowhere() throws {
        let breaker = try self.fixture.breaker()
        var permit = try breaker.admitPortable()
        permit.incarnation ^= 1
        #expect(try breaker.finish(permit, .failure) == .ofAnotherBootOrFile)
        permit = try breaker.admitPortable()
        permit.boot ^= 1
        #expect(try breaker.finish(permit, .failure) == .ofAnotherBootOrFile)
        #expect(try breaker.finish(.unreported, .failure) == .done)
        #expect(breaker.failureCount == 0)
        #expect(breaker.totals.failed == 0)
    }

    /// A permit is a text: its numbers may be any.
    @Test func theHighestReportKeyOverflowsNothing() throws {
        let breaker = try self.fixture.breaker()
        var permit = try breaker.admitPortable()
        permit.reportKey = .max
        let reporter = try Self.parent().reporter
        #expect(try breaker.finish(permit, .failure, reporter: reporter) == .done)
        #expect(try breaker.finish(permit, .failure, reporter: reporter) == .late)
        #expect(breaker.failureCount == 1)
    }

    @Test func anOutageOpensTheCircuit() throws {
        let breaker = try self.fixture.breaker()
        #expect(try breaker.finish(breaker.admitPortable(), .outage(for: .seconds(90))) == .done)
        #expect(breaker.state.isOpen)
        #expect(throws: CircuitOpenError.self) { try breaker.admitPortable() }
    }

    // MARK: - Reporters

    @Test(arguments: [
        TripRule.failures(2, within: .seconds(60)), .failureRate(0.5, minimumCalls: 2, within: .seconds(60)),
    ]) func theReporterIsTheHolder(rule: TripRule) throws {
        let breaker = try self.fixture.store.breaker(.init(name: "a", trip: rule, minimumReporters: 2))
        for _ in 0..<4 { _ = try breaker.finish(breaker.admitPortable(), .failure, reporter: Self.parent().reporter) }
        #expect(breaker.state == .closed)
        _ = try breaker.finish(breaker.admitPortable(), .failure, reporter: Self.own().reporter)
        #expect(breaker.state.isOpen)
    }

    /// As a worker that is gone: it counts only where no other reporter lives.
    @Test func aHolderThatHasEndedCountsForNobody() throws {
        let breaker = try self.fixture.store.breaker(
            .init(name: "a", trip: .failures(2, within: .seconds(60)), minimumReporters: 2))
        let parent = try Self.parent()
        let ended = RunningProcess(pid: parent.pid, start: parent.start + 1)
        #expect(!ended.isRunning)
        _ = try breaker.finish(breaker.admitPortable(), .failure, reporter: ended.reporter)
        _ = try breaker.finish(breaker.admitPortable(), .failure, reporter: parent.reporter)
        #expect(breaker.state == .closed)
        breaker.record(.failure, reporter: try Self.own().reporter)
        #expect(breaker.state.isOpen)
    }

    @Test func aReportersNumberNamesItsProcess() throws {
        let own = try Self.own()
        let number = try #require(own.reporter)
        #expect(number < 0)
        #expect(RunningProcess(reporter: number) == own)
        #expect(own.isRunning)
        #expect(own.parent == getppid())
        for worker: Int64 in [0, 1, 1 << 32, .max, .min] {
            #expect(RunningProcess(reporter: WorkerID(worker)) == nil)
        }
        for start: Int64 in [-1, 1 << 40, .max] { #expect(RunningProcess(pid: 1, start: start).reporter == nil) }
        for pid: Int32 in [0, -1, 1 << 22] { #expect(RunningProcess(pid: pid, start: 1).reporter == nil) }
    }

    // MARK: - Probes

    @Test func aProbesReportCountsOnce() async throws {
        let breaker = try await self.fixture.dueBreaker(probes: ProbeRule(successesToClose: 2))
        let permit = try breaker.admitPortable()
        #expect(permit.source == .probe)
        #expect(throws: CircuitOpenError.self) { try breaker.admitPortable() }
        #expect(try breaker.finish(permit, .success) == .done)
        #expect(try breaker.finish(permit, .success) == .late)
        #expect(breaker.state == .halfOpen)
        #expect(try breaker.finish(breaker.admitPortable(), .success) == .done)
        #expect(breaker.state == .closed)
    }

    @Test func aRenewedLeaseIsLonger() async throws {
        let breaker = try await self.fixture.dueBreaker(probes: ProbeRule(lease: .seconds(10)))
        let permit = try breaker.admitPortable()
        for _ in 0..<5 {
            self.fixture.clock.advance(by: .seconds(9))
            #expect(try breaker.renewProbe(token: permit.token, epoch: permit.epoch) == .seconds(10))
        }
        #expect(throws: CircuitOpenError.self) { try breaker.admitPortable() }
        #expect(try breaker.renewProbe(token: permit.token ^ 1, epoch: permit.epoch) == nil)
        #expect(try breaker.renewProbe(token: permit.token, epoch: permit.epoch.adding(-1)) == nil)
        // A prober that was stopped for longer than the lease is late, also if no other probe has come.
        self.fixture.clock.advance(by: .seconds(11))
        #expect(try breaker.renewProbe(token: permit.token, epoch: permit.epoch) == nil)
        #expect(try breaker.finish(permit, .success) == .late)
        #expect(breaker.state == .halfOpen)
    }

    /// The worker lives as long as any process has the descriptor: here this one, as a keeper would.
    @Test(.ownDirectory) func aWorkerThatIsLeftBehindKeepsItsSlot() throws {
        let parent = try Self.parent()
        let path = try Workplace.here.store
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .hangLimit
        let one = try CircuitStore(path: path, configuration: configuration)
        let config = CircuitBreaker.Config(name: "a", trip: .consecutiveFailures(1))
        let breaker = try one.breaker(config)
        breaker.record(.failure, reporter: parent.reporter)
        try one.probe("a")
        let permit = try breaker.admitPortable()
        let lock = try one.duplicateLock()
        try one.handOverWorker(to: parent, named: "shell", with: permit, of: "a")
        #expect(one.isClosed)
        let other = try CircuitStore(path: path, configuration: configuration)
        defer { other.close() }
        let late = try other.breaker(named: "a")
        #expect(throws: CircuitOpenError.self) { try late.admitPortable() }
        let owner = try #require(try other.workers().first { $0.pid == parent.pid })
        #expect(owner.name == "shell")
        let probe = try #require(try other.circuit(named: "a")?.probes.first)
        #expect(probe.worker == owner.id)
        #expect(probe.name == "shell")
        #expect(probe.pid == parent.pid)
        close(lock)
        #expect(try late.admitPortable().source == .probe)
        #expect(try late.finish(permit, .success) == .late)
    }
}
