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
@Suite(.timeLimit(.minutes(10))) struct TicketTests {
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
        let ticket = try breaker.admitTicket()
        let reporter = try Self.parent().reporter
        #expect(try breaker.finish(ticket, .failure, error: "down", reporter: reporter) == .counted)
        for verdict in [Verdict.failure, .failure] {
            self.fixture.clock.advance(by: .seconds(1))
            #expect(try breaker.finish(ticket, verdict, reporter: reporter) == .late)
        }
        #expect(breaker.totals.failed == 1)
        #expect(breaker.failureCount == (rule.count == nil ? 0 : 1))
        let snapshot = try #require(try self.fixture.store.circuit(named: "a"))
        #expect((snapshot.recent?.failed ?? 1) == 1)
        if rule.count != nil { #expect(snapshot.lastError == "down") }
    }

    /// Rows that only show what was counted must not stay for ever.
    @Test func theRowsOfAFailureRateRuleGoWithItsWindow() throws {
        let breaker = try self.fixture.breaker(trip: .failureRate(0.9, minimumCalls: 100, within: .seconds(60)))
        for _ in 0..<5 {
            #expect(try breaker.finish(breaker.admitTicket(), .failure, reporter: Self.parent().reporter) == .counted)
            self.fixture.clock.advance(by: .seconds(40))
        }
        let rows = try self.fixture.core?.read { (database) throws(BreakerStoreError) in
            try database.first("SELECT count(*) FROM failure") { $0.integer(0) }
        }
        #expect(rows == 2)
    }

    @Test func aSuccessForgetsFailuresInARow() throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(3))
        let (failed, good) = (try breaker.admitTicket(), try breaker.admitTicket())
        #expect(try breaker.finish(failed, .failure) == .counted)
        #expect(breaker.failureCount == 1)
        #expect(try breaker.finish(good, .success) == .counted)
        #expect(breaker.failureCount == 0)
        #expect(breaker.totals.succeeded == 1)
        #expect(try breaker.finish(try breaker.admitTicket(), .ignored) == .counted)
        #expect(breaker.totals.ignored == 1)
    }

    @Test(arguments: [Verdict.success, .failure, .ignored]) func aChangedCircuitTakesNoReport(verdict: Verdict) throws {
        let breaker = try self.fixture.breaker()
        let ticket = try breaker.admitTicket()
        try self.fixture.store.reset("a")
        #expect(try breaker.finish(ticket, verdict) == .late)
        #expect(breaker.failureCount == 0)
    }

    @Test func aTicketOfAnotherFileOrBootCountsNowhere() throws {
        let breaker = try self.fixture.breaker()
        var ticket = try breaker.admitTicket()
        ticket.incarnation ^= 1
        #expect(try breaker.finish(ticket, .failure) == .ofAnotherFile)
        ticket = try breaker.admitTicket()
        ticket.boot ^= 1
        #expect(try breaker.finish(ticket, .failure) == .ofAnotherFile)
        #expect(try breaker.finish(CallTicket(source: .none), .failure) == .counted)
        #expect(breaker.failureCount == 0)
        #expect(breaker.totals.failed == 0)
    }

    @Test func anOutageOpensTheCircuit() throws {
        let breaker = try self.fixture.breaker()
        #expect(try breaker.finish(breaker.admitTicket(), .outage(for: .seconds(90))) == .counted)
        #expect(breaker.state.isOpen)
        #expect(throws: CircuitOpenError.self) { try breaker.admitTicket() }
    }

    // MARK: - Reporters

    @Test(arguments: [
        TripRule.failures(2, within: .seconds(60)), .failureRate(0.5, minimumCalls: 2, within: .seconds(60)),
    ]) func theReporterIsTheHolder(rule: TripRule) throws {
        let breaker = try self.fixture.store.breaker(.init(name: "a", trip: rule, minimumReporters: 2))
        for _ in 0..<4 { _ = try breaker.finish(breaker.admitTicket(), .failure, reporter: Self.parent().reporter) }
        #expect(breaker.state == .closed)
        _ = try breaker.finish(breaker.admitTicket(), .failure, reporter: Self.own().reporter)
        #expect(breaker.state.isOpen)
    }

    /// As a worker that is gone: it counts only where no other reporter lives.
    @Test func aHolderThatHasEndedCountsForNobody() throws {
        let breaker = try self.fixture.store.breaker(
            .init(name: "a", trip: .failures(2, within: .seconds(60)), minimumReporters: 2))
        let parent = try Self.parent()
        let ended = RunningProcess(pid: parent.pid, start: parent.start + 1)
        #expect(!ended.isRunning)
        _ = try breaker.finish(breaker.admitTicket(), .failure, reporter: ended.reporter)
        _ = try breaker.finish(breaker.admitTicket(), .failure, reporter: parent.reporter)
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
        let ticket = try breaker.admitTicket()
        #expect(ticket.source == .probe)
        #expect(throws: CircuitOpenError.self) { try breaker.admitTicket() }
        #expect(try breaker.finish(ticket, .success) == .counted)
        #expect(try breaker.finish(ticket, .success) == .late)
        #expect(breaker.state == .halfOpen)
        #expect(try breaker.finish(breaker.admitTicket(), .success) == .counted)
        #expect(breaker.state == .closed)
    }

    @Test func aRenewedLeaseIsLonger() async throws {
        let breaker = try await self.fixture.dueBreaker(probes: ProbeRule(lease: .seconds(10)))
        let ticket = try breaker.admitTicket()
        for _ in 0..<5 {
            self.fixture.clock.advance(by: .seconds(9))
            #expect(try breaker.renewProbe(token: ticket.token, epoch: ticket.epoch) == .seconds(10))
        }
        #expect(throws: CircuitOpenError.self) { try breaker.admitTicket() }
        #expect(try breaker.renewProbe(token: ticket.token ^ 1, epoch: ticket.epoch) == nil)
        #expect(try breaker.renewProbe(token: ticket.token, epoch: ticket.epoch.adding(-1)) == nil)
        // A prober that was stopped for longer than the lease is late, also if no other probe has come.
        self.fixture.clock.advance(by: .seconds(11))
        #expect(try breaker.renewProbe(token: ticket.token, epoch: ticket.epoch) == nil)
        #expect(try breaker.finish(ticket, .success) == .late)
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
        let ticket = try breaker.admitTicket()
        let lock = try one.duplicateLock()
        try one.leaveWorker(to: parent, named: "shell", with: ticket, of: "a")
        #expect(one.isClosed)
        let other = try CircuitStore(path: path, configuration: configuration)
        defer { other.close() }
        let late = try other.breaker(named: "a")
        #expect(throws: CircuitOpenError.self) { try late.admitTicket() }
        let owner = try #require(try other.workers().first { $0.pid == parent.pid })
        #expect(owner.name == "shell")
        let probe = try #require(try other.circuit(named: "a")?.probes.first)
        #expect(probe.worker == owner.id)
        #expect(probe.name == "shell")
        #expect(probe.pid == parent.pid)
        close(lock)
        #expect(try late.admitTicket().source == .probe)
        #expect(try late.finish(ticket, .success) == .late)
    }
}
