import BreakerStore
import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Failures of many processes at once.
struct Crowds {
    private static let config = CircuitBreaker.Config(
        name: "crowd", trip: .failures(1_000_000, within: .seconds(3_600)))
    private static let pacedConfig = CircuitBreaker.Config(
        name: "paced", trip: .failures(1_000_000, within: .milliseconds(100)))
    private static let failures = 1_000
    private static let pacedFailures = 1_000
    /// In microseconds.
    private static let pause: UInt32 = 5_000

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        var ours: [Crowd] = []
        var floor: [Crowd] = []
        let rounds = try await Rounds.run(
            effort.crowds, effort,
            [
                {
                    ours.append(try await Self.run(.failing, 8))
                    return ours[ours.count - 1].perSecond
                },
                {
                    floor.append(try await Self.run(.failingInC, 8))
                    return floor[floor.count - 1].perSecond
                },
            ]
        )
        table.addRatio(
            "8 processes failing without pause, all of them, against 8 C processes", ours: rounds[0], floor: rounds[1],
            .atLeast(0.6), .perSecond)
        let median = ours.map(\.shareOfSlowest).sorted()[ours.count / 2]
        table.addRatio("  the slowest process, against their mean", ours: median, floor: 1, .atLeast(0.9), .plain)
        table.addRatio(
            "  the slowest failure, against C's slowest", ours: Self.median(ours.map(\.slowest)),
            floor: Self.median(floor.map(\.slowest)), .atMost(2), .milliseconds)
        let paced = try await Self.run(.failingPaced, 16)
        table.addAmount(
            "16 processes failing 5 ms apart, the 99th percentile of the worst", ours: paced.percentile(0.99) * 1_000,
            atMost: 1_500, .microseconds)
        table.addAmount(
            "  the 99.9th percentile of the worst", ours: paced.percentile(0.999) * 1_000, atMost: 5_000, .microseconds)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// Runs so many processes at once, on a new file.
    private static func run(_ role: Child.Role, _ count: Int) async throws -> Crowd {
        try await Program.withDirectory { directory in
            let path = directory + "/crowd.db"
            try CircuitStore(path: path).close()
            if role == .failingInC {
                _ = try Floor(directory + "/floor.db", model: path)
            }
            let output = try Child.crowd(role, role == .failingInC ? directory + "/floor.db" : path, count)
            let processes = output.split(separator: "\n").map { line in
                line.split(separator: " ").compactMap { Double($0) }
            }
            guard processes.count == count, processes.allSatisfy({ $0.count > 1 }) else {
                throw BenchmarkError("a crowd printed \(output)")
            }
            return Crowd(processes: processes)
        }
    }

    /// What the processes of a crowd took for each of their failures, in nanoseconds.
    private struct Crowd {
        let processes: [[Double]]

        private var rates: [Double] { self.processes.map { Double($0.count) * 1e9 / $0.reduce(0, +) } }

        var perSecond: Double { self.rates.reduce(0, +) }

        /// The rate of the slowest process, as a share of the mean.
        var shareOfSlowest: Double {
            (self.rates.min() ?? 0) * Double(self.processes.count) / self.perSecond
        }

        /// The slowest of all failures, in milliseconds.
        var slowest: Double { (self.processes.joined().max() ?? 0) / 1e6 }

        /// The worst process's percentile, in milliseconds.
        func percentile(_ share: Double) -> Double {
            self.processes.map { $0.sorted()[min($0.count - 1, Int(Double($0.count) * share))] }.max().map { $0 / 1e6 }
                ?? .nan
        }
    }

    // MARK: - In the child

    static func fail(_ path: String) throws {
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(Self.config)
        try Self.time(Self.failures, pause: 0) { Self.fail(breaker) }
        store.close()
    }

    static func failPaced(_ path: String) throws {
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(Self.pacedConfig)
        try Self.time(Self.pacedFailures, pause: Self.pause) { Self.fail(breaker) }
        store.close()
    }

    static func failInC(_ path: String) throws {
        guard let floor = unsafe bb_floor_open(path, nil, 1), unsafe bb_floor_share(floor, getpid()) == 0 else {
            throw BenchmarkError("the floor's database can't be opened")
        }
        defer { unsafe bb_floor_close(floor) }
        try Self.time(Self.failures, pause: 0) {
            guard unsafe bb_floor_fail(floor, 1) >= 0 else {
                throw BenchmarkError("the floor's transaction failed")
            }
        }
    }

    private static func fail(_ breaker: CircuitBreaker) {
        _ = try? breaker.run { () throws -> Void in throw ServiceError() }
    }

    /// Waits for all others, and prints the nanoseconds that each `body` took.
    private static func time(_ count: Int, pause: UInt32, _ body: () throws -> Void) throws {
        print()
        Program.flush()
        guard readLine() != nil else { return }
        var times: [Int] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
            let watch = Stopwatch()
            try body()
            times.append(Int(watch.nanoseconds))
            if pause > 0 { usleep(pause) }
        }
        print(times.map { "\($0)" }.joined(separator: " "))
    }
}
