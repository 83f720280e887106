import Testing

@testable import BreakerStore

/// When failures count, who counts, and for how long a circuit stays open.
@Suite struct CircuitRuleTests {
    @Test func aFailureExactlyAsOldAsTheWindowCounts() {
        for (age, action) in [(1_000, .tripped), (1_001, .counted)] as [(Int64, Circuit.ReportAction)] {
            var circuit = TestCircuit(rules: .forTests(), at: StoreTime(0))
            #expect(circuit.fail(at: 100, 1) == .counted)
            #expect(circuit.fail(at: 150, 2) == .counted)
            #expect(circuit.failureCount(at: StoreTime(100 + age)) == (action == .tripped ? 2 : 1))
            #expect(circuit.fail(at: 100 + age, 3) == action)
        }
    }

    @Test func sparseFailuresNeverStopABurst() {
        var circuit = TestCircuit(rules: .forTests(), at: StoreTime(0))
        for index in 1...50 as ClosedRange<Int64> {
            #expect(circuit.fail(at: index * 600, index) == .counted)
            #expect(circuit.failures.count <= 2)
        }
        #expect(circuit.failureCount(at: StoreTime(40_000)) == 0)
        #expect(circuit.fail(at: 40_000, 60) == .counted)
        #expect(circuit.fail(at: 40_001, 61) == .counted)
        #expect(circuit.fail(at: 40_002, 62) == .tripped)
    }

    @Test func aReportKeepsTheTimeAtWhichItsCallEnded() {
        var circuit = TestCircuit(rules: .forTests(), at: StoreTime(0))
        #expect(circuit.fail(at: 5_000, 1, reportedAt: 4_000) == .counted)
        #expect(circuit.failures.map(\.at) == [StoreTime(4_000)], "never later than now")
        #expect(circuit.fail(at: 3_500, 2, reportedAt: 4_600) == .counted)
        #expect(circuit.failures.map(\.at) == [StoreTime(4_000)], "it ended before the window")
        #expect(circuit.fail(at: 3_600, 3, reportedAt: 4_600) == .counted)
        #expect(circuit.failures.map(\.at) == [StoreTime(3_600), StoreTime(4_000)], "oldest first")
    }

    @Test func anotherKeyAtTheSameInstantIsAnotherFailure() {
        var circuit = TestCircuit(rules: .forTests(), at: StoreTime(0))
        #expect(circuit.fail(at: 10, by: 1, 1) == .counted)
        #expect(circuit.fail(at: 10, by: 1, 1) == .stale)
        #expect(circuit.fail(at: 10, by: 2, 1) == .counted)
        #expect(circuit.fail(at: 10, by: 1, 2) == .tripped)
    }

    // MARK: - Consecutive failures

    @Test func aSuccessForgetsTheFailuresThatEndedBefore() {
        var circuit = TestCircuit(rules: .forTests(.consecutiveFailures(3)), at: StoreTime(0))
        #expect(circuit.succeed(at: 5) == .unchanged)
        #expect(circuit.fail(at: 10, 1) == .counted)
        #expect(circuit.fail(at: 30, 2) == .counted)
        #expect(circuit.succeed(at: 20, reportedAt: 40) == .counted)
        #expect(circuit.failures.map(\.sequence) == [2], "it ended after the success")
        #expect(circuit.fail(at: 19, 3, reportedAt: 50) == .stale, "it ended before the success")
        #expect(circuit.fail(at: 10, 1, reportedAt: 50) == .stale, "forgotten, and here again")
        #expect(circuit.succeed(at: 15, reportedAt: 50) == .unchanged)
        #expect(circuit.fail(at: 1_000_000, 4) == .counted)
        #expect(circuit.fail(at: 9_000_000, 5) == .tripped, "no window")
    }

    @Test func failuresInTheInstantOfASuccessCountAfterIt() {
        var circuit = TestCircuit(rules: .forTests(.consecutiveFailures(2)), at: StoreTime(0))
        #expect(circuit.fail(at: 10, 1) == .counted)
        #expect(circuit.succeed(at: 10) == .counted)
        #expect(circuit.failures.isEmpty)
        #expect(circuit.fail(at: 10, 2) == .counted)
        #expect(circuit.fail(at: 10, 3) == .tripped)
    }

    // MARK: - Reporters

    @Test func oneNoisyWorkerNeitherTripsNorHidesTheOthers() {
        var rules = Rules.forTests()
        rules.minimumReporters = 3
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        #expect(circuit.fail(at: 10, by: 1, 1) == .counted)
        for index in 0..<100 as Range<Int64> { #expect(circuit.fail(at: 11 + index, by: 2, index) == .counted) }
        #expect(circuit.failures.count <= 3 + 2, "rows stay bounded")
        #expect(circuit.fail(at: 200, by: 3, 1) == .tripped)
    }

    /// A crash loop: however often it comes back, the processes that live on saw one failing process.
    @Test func theDeadDoNotCountBesideALivingReporter() {
        var rules = Rules.forTests()
        rules.minimumReporters = 2
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        let alive: Set<WorkerID> = [1, 2]
        for worker in 10..<20 as Range<Int64> {
            #expect(circuit.fail(at: worker, by: WorkerID(worker), 1, alive: alive) == .counted)
        }
        #expect(circuit.fail(at: 30, by: 1, 1, alive: alive) == .counted)
        #expect(circuit.fail(at: 31, by: 1, 2, alive: alive) == .counted)
        #expect(circuit.fail(at: 32, by: 2, 1, alive: alive) == .tripped)
    }

    @Test func aCrashLoopDoesNotHideTheOthers() {
        var rules = Rules.forTests()
        rules.minimumReporters = 3
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        #expect(circuit.fail(at: 10, by: 1, 1, alive: [1, 2, 3]) == .counted)
        // Each one is alive while it reports, and dead when the next one does.
        for worker in 100..<120 as Range<Int64> {
            #expect(circuit.fail(at: worker, by: WorkerID(worker), 1, alive: [1, 2, 3, WorkerID(worker)]) == .counted)
        }
        #expect(circuit.failures.count <= 3 + 3, "rows stay bounded")
        #expect(circuit.fail(at: 200, by: 2, 1, alive: [1, 2, 3]) == .counted)
        #expect(circuit.fail(at: 201, by: 3, 1, alive: [1, 2, 3]) == .tripped)
    }

    /// To ask is a system call.
    @Test func workersAreAskedAboutOnlyWhereATripDependsOnThem() {
        var rules = Rules.forTests()
        rules.minimumReporters = 2
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        var asked: [WorkerID] = []
        func fail(at time: Int64, by worker: WorkerID) -> Circuit.ReportAction {
            let report = Report(worker: worker, sequence: time, epoch: circuit.epoch, at: StoreTime(time), error: "E")
            return circuit.callFailed(report, at: Moment(time)) {
                asked.append($0)
                return true
            }
        }
        // Below the threshold, and at the threshold while one worker alone has failed.
        for time in 1...10 as ClosedRange<Int64> { #expect(fail(at: time, by: 1) == .counted) }
        #expect(asked == [])
        #expect(fail(at: 11, by: 2) == .tripped)
        #expect(asked.sorted() == [1, 2])
    }

    // MARK: - Recovery

    @Test(arguments: [(0, 500), (0.5, 625), (0.999, 749)] as [(Double, Int64)])
    func jitterAddsUpToItsShare(draw: Double, wait: Int64) {
        var rules = Rules.forTests(.failures(1, window: 10))
        rules.recovery.jitter = 0.5
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        let report = Report(worker: 1, sequence: 1, epoch: circuit.epoch, at: StoreTime(0))
        #expect(circuit.callFailed(report, at: Moment(now: StoreTime(0), draw: draw)) == .tripped)
        #expect(circuit.state == .open(until: StoreTime(wait)))
    }

    @Test(.timeLimit(.minutes(10))) func manyTripsAreCountedAtOnce() {
        var rules = Rules.forTests()
        rules.recovery.multiplier = 1.000_000_000_001
        #expect(rules.recoveryTime(afterTrips: .max, draw: 0) == 10_000)
        rules.recovery.multiplier = 2
        rules.timeout = 0
        #expect(rules.recoveryTime(afterTrips: .max, draw: 0) >= 1)
    }
}
