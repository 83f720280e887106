import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The failures in the file and a list in memory: the machine decides alike with both.
@Suite(.timeLimit(.minutes(10))) struct FailureRowsTests {
    /// A history on both at once.
    private struct History {
        private let fixture: StoreFixture
        private let core: StoreCore
        private let name: String
        /// Whether the rules keep many failures.
        private let isBusy: Bool
        private var random: SplitMix64
        private var memory: CircuitInMemory
        private var sequence: Int64 = 0
        private var told: [Report] = []
        private let workers: [WorkerID] = [1, 2, 3, 4]
        private var living: Set<WorkerID> = [1, 2, 3]
        private(set) var trips = 0

        private static let patience = Deadline(after: .hangLimit)

        init(seed: UInt64, _ fixture: StoreFixture, isBusy: Bool) throws {
            self.fixture = fixture
            self.isBusy = isBusy
            self.core = try #require(fixture.core)
            self.name = "history-\(seed)"
            self.random = SplitMix64(seed: seed)
            _ = try fixture.store.breaker(.init(name: self.name))
            let row = try #require(try self.core.circuit(self.name)?.row)
            self.memory = CircuitInMemory(row.circuit)
            let rules = Self.rules(0, isBusy: isBusy)
            try self.both { circuit, _, _ in circuit.configured(rules, change: "") }
        }

        private static func rules(_ number: Int, isBusy: Bool) -> Rules {
            let count = isBusy ? 150 : 4
            let windows: [Int64] = isBusy ? [2_000, 5_000] : [40, 100]
            var rules = Rules.forTests(
                number.isMultiple(of: 3) ? .consecutiveFailures(count) : .failures(count, window: windows[0]))
            if number.isMultiple(of: 2) { rules.minimumReporters = 3 }
            if number.isMultiple(of: 5) { rules.trip = .failures(isBusy ? 100 : 2, window: windows[1]) }
            return rules
        }

        private typealias Event = @Sendable (inout Circuit, Moment, any KnownFailures) -> Void

        /// Makes the same event happen to both.
        private mutating func both(_ event: @escaping Event) throws { try self.both([event]) }

        /// Makes the same events happen to both; to the file in one transaction.
        private mutating func both(_ events: [Event]) throws {
            let name = self.name
            let (now, stored) = try self.core.commit(until: Self.patience) { (transaction) throws(BreakerStoreError) in
                var counters: [FailureCount?] = []
                for event in events {
                    counters.append(
                        try transaction.change(name) { circuit, moment, failures in
                            let failureCount = circuit.failureCount
                            event(&circuit, moment, failures)
                            return failureCount
                        })
                }
                return (transaction.now, counters)
            }
            for (event, stored) in zip(events, stored) {
                let kept = self.memory.apply(at: now) { circuit, failures in
                    let failureCount = circuit.failureCount
                    event(&circuit, Moment(now: now), failures)
                    _ = circuit.drainTransitions()
                    return failureCount
                }
                // In a state in which none matter, the file's are not counted.
                guard stored != FailureCount.none else { continue }
                #expect(stored?.count == kept.count, "\(name)")
                #expect(stored?.oldest == kept.oldest, "\(name)")
            }
        }

        mutating func run(steps: Int) throws {
            for step in 0..<steps {
                try self.step()
                try self.compare(step)
            }
        }

        private mutating func step() throws {
            switch self.random.number(in: 0...99) {
            case 0..<15: self.fixture.clock.advance(by: .microseconds(self.random.number(in: 0...30)))
            // Somebody else commits.
            case 15..<20:
                Foreign.run(self.core.file.path, "UPDATE worker SET since = since - 1", keepsLog: true)
            case 20..<(self.isBusy ? 21 : 25):
                let id = "(SELECT id FROM circuit WHERE name = '\(self.name)')"
                Foreign.run(
                    self.core.file.path,
                    """
                    DELETE FROM failure WHERE circuit = \(id);
                    UPDATE circuit SET last_error = NULL, failure_count = NULL WHERE id = \(id);
                    UPDATE clock SET reserved = reserved + 1
                    """,
                    keepsLog: true)
                self.fixture.clock.advance(by: .microseconds(1))
                self.memory.apply(at: self.core.clock.now) { circuit, _ in circuit.forgetFailures() }
            case 25..<30: self.living = Set(self.workers.filter { _ in self.random.chance(60) })
            case 30..<(self.isBusy ? 31 : 35):
                let rules = Self.rules(self.random.number(in: 0...29), isBusy: self.isBusy)
                try self.both { circuit, _, _ in circuit.configured(rules, change: "") }
            case 35..<(self.isBusy ? 36 : 45):
                let report = self.report()
                try self.both { circuit, moment, _ in
                    var report = report
                    report.epoch = circuit.epoch
                    _ = circuit.callSucceeded(report, at: moment)
                }
            case 45..<(self.isBusy ? 46 : 48):
                try self.both { circuit, moment, _ in circuit.reset(at: moment.now, reason: nil) }
                self.told = []
            case 48..<52: try self.giveUp()
            case 52..<60:
                if var report = self.random.pick(self.told) {
                    report.isRetry = true
                    try self.fail([report])
                }
            case 60..<68: try self.fail((0..<self.random.number(in: 2...20)).map { _ in self.report() })
            default: try self.fail([self.report()])
            }
        }

        private mutating func report() -> Report {
            self.sequence += 1
            let age = self.random.chance(20) ? Int64(self.random.number(in: 0...60)) : 0
            let worker = self.random.chance(60) ? 1 : WorkerID(Int64(self.random.number(in: 1...4)))
            return Report(
                worker: worker, sequence: self.sequence, epoch: 0, at: self.core.clock.now.adding(-age), error: "E")
        }

        private mutating func fail(_ reports: [Report]) throws {
            self.told += reports
            let living = self.living
            try self.both(
                reports.map { report in
                    { circuit, moment, failures in
                        var report = report
                        report.epoch = circuit.epoch
                        _ = circuit.callFailed(report, at: moment, among: failures) { living.contains($0) }
                    }
                })
            guard case .open = self.memory.circuit.state else { return }
            self.trips += 1
            try self.compare(-1)
            try self.both { circuit, moment, _ in circuit.reset(at: moment.now, reason: nil) }
            self.told = []
        }

        /// A transaction that fails leaves nothing behind.
        private mutating func giveUp() throws {
            let report = self.report()
            let name = self.name
            #expect(throws: BreakerStoreError.self) {
                try self.core.commit(until: Self.patience) { (transaction) throws(BreakerStoreError) in
                    _ = try transaction.change(name) { circuit, moment, failures in
                        var report = report
                        report.epoch = circuit.epoch
                        return circuit.callFailed(report, at: moment, among: failures)
                    }
                    throw BreakerStoreError(code: .noSuchCircuit, message: "given up")
                }
            }
        }

        private mutating func compare(_ step: Int) throws {
            let stored = try #require(try self.core.circuit(self.name))
            try #require(stored.failures == self.memory.failures.failures, "\(self.name), step \(step)")
            let noted = stored.row.failures
            try #require(noted.count.map { Int($0) == stored.failures.count } ?? true, "\(self.name), step \(step)")
            try #require(noted.since == nil, "\(self.name), step \(step)")
            var circuit = stored.row.circuit
            circuit.failureCount = self.memory.circuit.failureCount
            try #require(circuit == self.memory.circuit, "\(self.name), step \(step)")
        }
    }

    @Test(arguments: [false, true]) func fileAndMemoryAgree(isBusy: Bool) throws {
        let fixture = try StoreFixture()
        var trips = 0
        for seed in 0..<UInt64(isBusy ? 4 : 40) {
            var history = try History(seed: seed, fixture, isBusy: isBusy)
            try history.run(steps: isBusy ? 1_500 : 100)
            trips += history.trips
        }
        #expect(trips > (isBusy ? 1 : 40))
        #expect(fixture.isHealthy)
    }
}
