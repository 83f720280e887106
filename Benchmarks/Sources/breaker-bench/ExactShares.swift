import BreakerStore
import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Processes whose calls fail at exactly the share of the rule: after how many calls the circuit opens, against a judge
/// that has the counts of all.
struct ExactShares {
    private static let share = 0.5
    private static let minimum = 20
    private static let config = CircuitBreaker.Config(
        name: "exact", trip: .failureRate(Self.share, minimumCalls: Self.minimum, within: .seconds(60)))

    /// Random calls may stay below the share for ever: then a run ends without a trip, as the judge's does.
    private static let longest = 8_000

    /// How the processes call.
    private struct Plan {
        var processes: Int
        /// Of all processes together.
        var callsPerSecond: Double
        var isRandom: Bool

        var name: String {
            "\(self.processes) processes, \(Int(self.callsPerSecond)) calls/s, "
                + (self.isRandom ? "half fail at random" : "success and failure alternate")
        }
    }

    /// What a run has shown: how many calls had ended when the circuit opened, and at how many the judge opens it.
    private struct Outcome {
        var opened: Int
        var judged: Int
    }

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        let manyRuns = effort.crowds * 15
        for (processes, rate) in [(2, 4.0), (4, 4), (2, 40), (4, 40), (2, 400), (4, 400)] {
            // A slow run takes ten seconds.
            let runs = rate < 10 ? effort.crowds * 3 : manyRuns
            let plan = Plan(processes: processes, callsPerSecond: rate, isRandom: false)
            var late = 0
            var most = 0
            for _ in 0..<runs {
                let outcome = try await Self.run(plan)
                if outcome.opened > Self.minimum + 20 { late += 1 }
                most = max(most, outcome.opened - Self.minimum)
            }
            table.addAmount(
                "\(plan.name): opens later than 20 calls after the minimum, of \(runs) runs", ours: Double(late),
                atMost: Double(runs) / 100, .plain)
            table.addAmount("  the most calls after the minimum", ours: Double(most), atMost: 20, .plain)
        }
        for (processes, rate) in [(2, 400.0), (4, 400)] {
            let plan = Plan(processes: processes, callsPerSecond: rate, isRandom: true)
            var (late, early) = (0, 0)
            let runs = manyRuns
            for _ in 0..<runs {
                let outcome = try await Self.run(plan)
                if outcome.opened < outcome.judged { early += 1 }
                // Two calls may end while the refusal is on its way.
                if Double(outcome.opened) > Double(outcome.judged) * 1.1 + 2 { late += 1 }
            }
            table.addAmount(
                "\(plan.name): opens more than 10 % of the calls later than a judge, of \(runs) runs",
                ours: Double(late), atMost: Double(runs) / 20, .plain)
            table.addAmount("  opens earlier than the judge", ours: Double(early), atMost: 0, .plain)
        }
    }

    private static func run(_ plan: Plan) async throws -> Outcome {
        try await Program.withDirectory { directory in
            let path = directory + "/exact.db"
            try CircuitStore(path: path).close()
            let words = "\(plan.callsPerSecond) \(plan.processes) \(plan.isRandom ? UInt64.random(in: 1...(.max)) : 0)"
            try Child.write(plan: words, at: path)
            var calls: [(time: Double, fails: Bool)] = []
            var refused = Double.infinity
            for line in try Child.crowd(.exactShare, path, plan.processes).split(separator: "\n") {
                let words = line.split(separator: " ")
                let times = words.dropFirst().compactMap { Double($0).map { $0 / 1e6 } }
                switch words.first {
                case "good": calls += times.map { ($0, false) }
                case "bad": calls += times.map { ($0, true) }
                case "refused": refused = min(refused, times.first ?? .infinity)
                default: throw BenchmarkError("a process printed \(line)")
                }
            }
            calls.sort { $0.time < $1.time }
            return Outcome(opened: calls.count { $0.time <= refused }, judged: Self.judged(calls.map(\.fails)))
        }
    }

    /// At how many calls the share is first reached; all of them if it is never.
    private static func judged(_ fails: [Bool]) -> Int {
        var bad = 0
        for (index, fails) in fails.enumerated() {
            if fails { bad += 1 }
            if index + 1 >= Self.minimum, Double(bad) / Double(index + 1) >= Self.share { return index + 1 }
        }
        return fails.count
    }

    // MARK: - In the child

    static func share(_ path: String) throws {
        let words = Child.plan(at: path)
        guard words.count == 3, let rate = Double(words[0]), let processes = Int(words[1]), let seed = UInt64(words[2])
        else { throw BenchmarkError("no plan") }
        var place = 0
        while unsafe open("\(path)-seat-\(place)", O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0o600) < 0 { place += 1 }
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(Self.config)
        print()
        Program.flush()
        guard readLine() != nil else { return }
        var (good, bad): ([Double], [Double]) = ([], [])
        let start = Self.now
        var number = place
        while number < Self.longest {
            let due = start + Double(number + 1) / rate
            let wait = due - Self.now
            if wait > 0 { usleep(UInt32(wait * 1e6)) }
            let fails = seed == 0 ? number % 2 == 0 : Self.mix(seed &+ UInt64(number)) % 2 == 0
            do {
                try breaker.run { if fails { throw ServiceError() } }
            } catch {
                if error is CircuitOpenError {
                    print("refused \(Int(Self.now * 1e6))")
                    break
                }
            }
            if fails { bad.append(Self.now) } else { good.append(Self.now) }
            number += processes
        }
        print("good", good.map { "\(Int($0 * 1e6))" }.joined(separator: " "))
        print("bad", bad.map { "\(Int($0 * 1e6))" }.joined(separator: " "))
        store.close()
    }

    private static func mix(_ number: UInt64) -> UInt64 {
        var value = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// The same clock for all processes, in seconds.
    private static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
