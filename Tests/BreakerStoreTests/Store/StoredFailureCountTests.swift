import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The circuit's row notes how many failures there are; whatever befalls the note or the rows, the circuit trips when
/// the rows say so.
@Suite(.timeLimit(.minutes(10))) struct StoredFailureCountTests {
    private let fixture: StoreFixture
    private let core: StoreCore
    private let breaker: CircuitBreaker
    private let path: String

    init() throws {
        self.fixture = try StoreFixture()
        self.core = try #require(self.fixture.core)
        self.path = self.core.file.path
        self.breaker = try self.fixture.store.breaker(Self.config())
    }

    private static func config(
        _ trip: TripRule = .failures(100, within: .seconds(10)), minimumReporters: Int = 1
    ) -> CircuitBreaker.Config {
        CircuitBreaker.Config(name: "a", trip: trip, minimumReporters: minimumReporters)
    }

    private func register(_ config: CircuitBreaker.Config) throws {
        try self.fixture.store.patiently { _ = try $0.breaker(config) }
    }

    private func fail(_ times: Int) { for _ in 0..<times { self.breaker.recordFailure() } }

    private var noted: CircuitRow.StoredFailureCount {
        get throws { try #require(try self.core.row(of: "a")).failures }
    }

    private var rows: Int { Int(Foreign.value(self.path, "SELECT count(*) FROM failure") ?? "") ?? -1 }

    private func run(_ sql: String) { Foreign.run(self.path, sql, keepsLog: true) }

    /// Rows as another program could have written them, a microsecond apart, the newest now.
    private func write(_ count: Int, noting: Bool) {
        self.run(
            """
            INSERT INTO failure WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < \(count))
            SELECT circuit.id, \(self.core.clock.now.microseconds) - \(count) + x, 5, x FROM circuit, n;
            UPDATE circuit SET failure_count = \(noting ? "\(count)" : "failure_count")
            """)
    }

    @Test func fewAreCountedEachTime() throws {
        self.fail(32)
        #expect(try self.noted == CircuitRow.StoredFailureCount())
        self.fail(1)
        #expect(try self.noted == CircuitRow.StoredFailureCount(count: 33))
        self.fixture.clock.advance(by: .seconds(11))
        self.fail(1)
        #expect(try self.noted == CircuitRow.StoredFailureCount())
        #expect(self.rows == 1)
    }

    // MARK: - Rows and notes of others

    @Test func rowsThatWereDeletedDoNotTrip() throws {
        self.fail(60)
        self.run("DELETE FROM failure WHERE sequence IN (SELECT sequence FROM failure LIMIT 30)")
        self.fail(69)
        #expect(self.breaker.state == .closed)
        #expect(self.breaker.failureCount == 99)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test func rowsThatAnotherProgramInsertedCountBeforeATrip() throws {
        self.write(10, noting: false)
        self.fail(20)
        #expect(self.breaker.failureCount == 30)
        self.fail(10)
        #expect(try self.noted.count == 40)
        self.write(40, noting: false)
        self.fail(59)
        #expect(self.breaker.state == .closed)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test(arguments: [
        "failure_count = 5000", "failure_count = 33", "failure_count = 0, failures_since = 9223372036854775807",
    ])
    func aWrongNoteTripsNothing(_ note: String) throws {
        self.fail(40)
        self.run("UPDATE circuit SET \(note)")
        self.fail(59)
        #expect(self.breaker.state == .closed)
        self.fail(note == "failure_count = 33" ? 8 : 1)
        #expect(self.breaker.state.isOpen)
    }

    @Test(arguments: [-1, Int64.max, Int64.min, 1 << 31])
    func aNoteThatNobodyCanHaveWrittenIsNone(_ note: Int64) throws {
        self.fail(40)
        self.run("UPDATE circuit SET failure_count = \(note), failures_since = \(note)")
        self.fail(1)
        #expect(self.fixture.isHealthy)
        #expect(try self.noted == CircuitRow.StoredFailureCount(count: 41))
    }

    @Test func repairMakesEachCircuitCountAgain() throws {
        self.fail(40)
        self.run("DELETE FROM failure")
        let opened = try #require(self.core.writer.opened)
        #expect(self.core.update { $0.acquireLeadForThread() })
        try self.core.writer.repair(opened, [:])
        #expect(try self.noted == CircuitRow.StoredFailureCount())
    }

    // MARK: - Many reports at once

    /// Reports about the circuit, all in one transaction.
    private func failAtOnce(_ times: Int, minimumReporters: Int = 1) throws {
        let epoch = try #require(try self.breaker.storedEpoch)
        let inputs = (0..<times).map { _ in
            OutcomeReport.failed(self.breaker.newReport(epoch, Outcome(verdict: .failure)))
        }
        let config = Self.config()
        try self.core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
            for input in inputs { try transaction.apply(input, to: "a", registering: config) }
        }
    }

    @Test func manyAtOnceTripWhenTheRowsSaySo() throws {
        self.fail(60)
        self.run("DELETE FROM failure WHERE sequence IN (SELECT sequence FROM failure LIMIT 30)")
        try self.failAtOnce(69)
        #expect(self.breaker.state == .closed)
        #expect(try self.noted.count == 99)
        try self.failAtOnce(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test func manyAtOnceDropNoneThatCounts() throws {
        try self.register(Self.config(.failures(100, within: .seconds(10)), minimumReporters: 2))
        self.fail(60)
        self.run("DELETE FROM failure WHERE sequence IN (SELECT sequence FROM failure LIMIT 30)")
        try self.failAtOnce(69)
        #expect(self.rows == 99)
        try self.failAtOnce(5)
        #expect(self.rows == 100)
        #expect(self.breaker.state == .closed)
    }

    @Test func aResetClearsAWrongNote() throws {
        self.fail(60)
        self.run("DELETE FROM failure; UPDATE circuit SET failure_count = 90")
        try self.fixture.store.reset("a")
        #expect(try self.noted == CircuitRow.StoredFailureCount())
        try self.failAtOnce(99)
        #expect(self.breaker.state == .closed)
    }

    // MARK: - Rules

    @Test func aWidenedWindowCountsWhatIsLeft() throws {
        self.fail(40)
        self.fixture.clock.advance(by: .seconds(9))
        self.fail(40)
        try self.register(Self.config(.failures(100, within: .seconds(60))))
        self.fixture.clock.advance(by: .seconds(40))
        self.fail(19)
        #expect(try self.noted.count == 99)
        #expect(self.breaker.state == .closed)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test func aNarrowedWindowCountsNoMore() throws {
        self.fail(50)
        self.fixture.clock.advance(by: .seconds(2))
        self.fail(40)
        try self.register(Self.config(.failures(100, within: .seconds(1))))
        self.fail(1)
        #expect(try self.noted.count == 41)
        #expect(self.rows == 41)
    }

    @Test func aRateInBetweenLeavesTheRows() throws {
        self.fail(50)
        try self.register(Self.config(.failureRate(0.9, minimumCalls: 1_000, within: .seconds(10))))
        self.fail(10)
        #expect(self.rows == 50)
        try self.register(Self.config())
        self.fail(49)
        #expect(self.breaker.state == .closed)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test func failuresThatAreDroppedForWantOfReportersAreNotNoted() throws {
        try self.register(Self.config(.failures(50, within: .seconds(10)), minimumReporters: 2))
        self.fail(120)
        #expect(self.breaker.state == .closed)
        #expect(self.rows == 50)
        #expect(try self.noted.count.map { $0 == 50 } ?? true)
    }

    @Test func aReportThatIsRepeatedCountsOnce() throws {
        self.fail(40)
        var report = self.breaker.newReport(try #require(try self.breaker.storedEpoch), Outcome(verdict: .failure))
        for isRetry in [false, false, true, true] {
            report.isRetry = isRetry
            let input = OutcomeReport.failed(report)
            try self.core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
                try transaction.apply(input, to: "a", registering: Self.config())
            }
            #expect(try self.noted.count == 41)
        }
    }

    // MARK: - Very many rows

    /// A transaction deletes at most a thousand of them; none of the others counts ever again.
    @Test func tooManyToDeleteAtOnceNeverCount() throws {
        self.write(5_000, noting: true)
        try self.register(Self.config(.failures(6_000, within: .seconds(10))))
        self.fixture.clock.advance(by: .seconds(11))
        self.fail(1)
        #expect(self.rows == 4_001)
        #expect(try self.noted.since != nil)
        #expect(self.breaker.failureCount == 1)
        try self.register(Self.config(.failures(1_000, within: .seconds(60))))
        self.fail(3)
        #expect(self.rows == 4)
        #expect(self.breaker.failureCount == 4)
        self.fail(2)
        #expect(self.rows == 6)
        #expect(try self.noted == CircuitRow.StoredFailureCount())
    }

    @Test func manyReportsDeleteNoMoreThanOne() throws {
        self.write(5_000, noting: true)
        self.fixture.clock.advance(by: .seconds(11))
        try self.failAtOnce(20)
        #expect(self.rows == 4_020)
        #expect(self.breaker.failureCount == 20)
    }

    /// Its end lies between what a reset has forgotten and the window's start: rows from then never count.
    @Test(arguments: [1, 40]) func aReportFromBeforeWhatWasForgottenCountsNowhere(atOnce: Int) throws {
        self.write(5_000, noting: true)
        try self.fixture.store.reset("a")
        self.fixture.clock.advance(by: .microseconds(1))
        let epoch = try #require(try self.breaker.storedEpoch)
        let start = try #require(try self.noted.since)
        let inputs = (0..<atOnce).map { _ in
            var report = self.breaker.newReport(epoch, Outcome(verdict: .failure))
            report.at = start.adding(-2)
            return OutcomeReport.failed(report)
        }
        try self.core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
            for input in inputs { try transaction.apply(input, to: "a", registering: Self.config()) }
        }
        #expect(self.breaker.failureCount == 0)
        #expect(try self.noted.count == nil)
        #expect(self.rows == 3_000)
    }

    /// Somebody has written failures of days to come, and they have opened the circuit.
    @Test(arguments: [TripRule.failures(100, within: .seconds(10)), .consecutiveFailures(100)])
    func aResetForgetsWhatLiesAhead(rule: TripRule) throws {
        try self.register(Self.config(rule))
        self.write(5_000, noting: true)
        self.run("UPDATE failure SET at = at + 5000000000")
        self.fail(1)
        #expect(self.breaker.state.isOpen)
        try self.fixture.store.reset("a")
        self.fixture.clock.advance(by: .microseconds(1))
        self.fail(99)
        #expect(self.breaker.state == .closed)
        #expect(self.breaker.failureCount == 99)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
    }

    @Test(arguments: [false, true]) func aResetForgetsThemAll(isHeld: Bool) throws {
        self.write(5_000, noting: true)
        if isHeld { try self.fixture.store.hold("a", .closed) }
        try self.fixture.store.reset("a")
        if isHeld { try self.fixture.store.release("a") }
        self.fixture.clock.advance(by: .microseconds(1))
        #expect(self.breaker.failureCount == 0)
        self.fail(99)
        #expect(self.breaker.state == .closed)
        #expect(self.rows == 99)
        self.fail(1)
        #expect(self.breaker.state.isOpen)
        #expect(self.rows == 100, "they tell of the trip")
    }

    @Test func aSuccessForgetsThemAll() throws {
        try self.register(Self.config(.consecutiveFailures(10_000)))
        self.write(5_000, noting: true)
        self.breaker.recordSuccess()
        #expect(self.rows == 4_000)
        #expect(self.breaker.failureCount == 0)
        let look = try #require(try self.core.readDecision(self.breaker.readContext))
        #expect(look.kind == .proceedWithoutFailures, "no success is reported for their sake")
        self.fixture.clock.advance(by: .microseconds(1))
        self.fail(1)
        #expect(self.breaker.failureCount == 1)
    }
}
