import BreakerStore
import CBenchmarks
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A share of the calls of several processes, of which one has the failing calls and the others the good ones: how late
/// the circuit trips once the share is reached, and whether it trips before.
struct Shares {
    private static let share = 0.5
    private static let minimum = 100
    private static let window = 20.0
    private static let config = CircuitBreaker.Config(
        name: "share", trip: .failureRate(Self.share, minimumCalls: Self.minimum, within: .seconds(Self.window)))
    /// Calls a second, the good ones of all processes together.
    private static let (good, bad, storm) = (2_000.0, 400.0, 4_000.0)

    private struct Plan {
        var processes: Int
        /// So many seconds a sixth of the calls fails; then more than half do.
        var quiet: Double
        var isBesideLoop: Bool
    }

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Self.measure(
            &table, Plan(processes: 2, quiet: 10, isBesideLoop: false), "2 processes", runs: effort.crowds)
        try await Self.measure(
            &table, Plan(processes: 8, quiet: 1, isBesideLoop: true), "8 processes beside a busy loop",
            runs: effort.crowds * 15)
        try await ExactShares.measure(&table, effort)
    }

    private static func measure(_ table: inout Table, _ plan: Plan, _ name: String, runs: Int) async throws {
        var late: [Double] = []
        var early = 0
        for _ in 0..<runs {
            if let delay = try await Self.delay(plan) { late.append(delay * 1_000) } else { early += 1 }
        }
        table.addAmount(
            "\(name), a sixth of their calls fails for \(Int(plan.quiet)) s: how often that trips, of \(runs) runs",
            ours: Double(early), atMost: 0, .plain)
        guard !late.isEmpty else { return }
        late.sort()
        table.addAmount(
            "  then more than half fail: from the share to the trip, the median", ours: late[late.count / 2],
            atMost: 5, .milliseconds)
        table.addAmount(
            "    the 99th percentile", ours: late[min(late.count - 1, late.count * 99 / 100)], atMost: 50,
            .milliseconds)
    }

    /// The seconds from the failing call with which the share was reached to the refusal; nil if there was a refusal
    /// before.
    private static func delay(_ plan: Plan) async throws -> Double? {
        let isOver = Atomic<Bool>(false)
        let loop = plan.isBesideLoop ? Task.detached { while !isOver.load(ordering: .relaxed) {} } : nil
        defer { isOver.store(true, ordering: .relaxed) }
        _ = loop
        return try await Program.withDirectory { directory in
            let path = directory + "/share.db"
            try CircuitStore(path: path).close()
            try Child.write(plan: "\(plan.processes) \(plan.quiet)", at: path)
            let output = try Child.crowd(.sharing, path, plan.processes)
            var (good, bad): ([Double], [Double]) = ([], [])
            var refused = Double.infinity
            for line in output.split(separator: "\n") {
                let words = line.split(separator: " ")
                let times = words.dropFirst().compactMap { Double($0).map { $0 / 1e6 } }
                switch words.first {
                case "good": good += times
                case "bad": bad += times
                case "refused": refused = min(refused, times.first ?? .infinity)
                default: throw BenchmarkError("a process printed \(line)")
                }
            }
            guard let reached = Self.reached(good.sorted(), bad.sorted()) else { return nil }
            return refused >= reached ? refused - reached : nil
        }
    }

    /// When the failing calls within the window first were the share.
    private static func reached(_ good: [Double], _ bad: [Double]) -> Double? {
        var (goodStart, goodEnd, badStart) = (0, 0, 0)
        for (index, time) in bad.enumerated() {
            while goodEnd < good.count, good[goodEnd] <= time { goodEnd += 1 }
            while goodStart < goodEnd, good[goodStart] < time - Self.window { goodStart += 1 }
            while bad[badStart] < time - Self.window { badStart += 1 }
            let (failed, calls) = (index + 1 - badStart, index + 1 - badStart + goodEnd - goodStart)
            if calls >= Self.minimum, Double(failed) / Double(calls) >= Self.share { return time }
        }
        return nil
    }

    // MARK: - In the child

    /// The first process has the failing calls.
    static func share(_ path: String) throws {
        let words = Child.plan(at: path)
        guard words.count == 2, let processes = Double(words[0]), let quiet = Double(words[1]) else {
            throw BenchmarkError("no plan")
        }
        let seat = unsafe open(path + "-seat", O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0o600)
        let isBad = seat >= 0
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(Self.config)
        print()
        Program.flush()
        guard readLine() != nil else { return }
        var times: [Double] = []
        let start = Self.now
        // Long enough for the share: the window has all calls since the start.
        while times.count < 80_000 {
            let age = Self.now - start
            let rate = !isBad ? Self.good / (processes - 1) : age < quiet ? Self.bad : Self.storm
            let base = isBad && age >= quiet ? Self.bad * quiet : 0
            let since = isBad && age >= quiet ? age - quiet : age
            let due = Int(base + since * rate)
            while times.count < due {
                let refused = Self.call(breaker, isBad)
                if let refused {
                    print(isBad ? "bad" : "good", times.map { "\(Int($0 * 1e6))" }.joined(separator: " "))
                    print("refused \(Int(refused * 1e6))")
                    store.close()
                    return
                }
                times.append(Self.now)
            }
            usleep(300)
        }
        store.close()
        throw BenchmarkError("a share was never reached")
    }

    /// When the call was refused; nil if it ran.
    private static func call(_ breaker: CircuitBreaker, _ isBad: Bool) -> Double? {
        do {
            try breaker.run { if isBad { throw ServiceError() } }
            return nil
        } catch {
            return error is CircuitOpenError ? Self.now : nil
        }
    }

    /// The same clock for both processes, in seconds.
    private static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
