import BreakerStore
import CBenchmarks
import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What rules about shares of the calls cost.
struct Counting {
    private static let failures = 10_000

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let store = try CircuitStore(path: directory + "/counting.db")
            defer { store.close() }
            try await Self.measureHealthy(&table, effort, store)
            try await Self.measureThreads(&table, effort, store)
            try await Self.measureFailures(&table, effort, store)
            let path = directory + "/child.db"
            table.addCount(
                "  system calls in \(Self.failures) such failures", try Child.systemCalls(.countedFailures, path),
                .exactly(0))
            try Self.measureIdleness(&table, directory + "/idle.db")
        }
    }

    // MARK: - Calls that go well

    private static func measureHealthy(_ table: inout Table, _ effort: Effort, _ store: CircuitStore) async throws {
        let slow = SlowCallRule(longerThan: .seconds(1), share: 1, minimumCalls: 1_000_000, within: .seconds(60))
        let measured = try store.breaker(.init(name: "slow", slow: slow))
        let operation = Operations.answer(CommandLine.arguments.count)
        let calls = effort.fastCalls
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await HealthyCall.bare(calls, operation) },
                { try await HealthyCall.guarded(calls, measured, operation) },
            ])
        table.addDifference(
            "healthy call under a slow rule, over a bare await", ours: rounds[1], floor: rounds[0], atMost: 90,
            .nanoseconds)
        let before = Counts.allocations
        _ = try await HealthyCall.guarded(Self.failures, measured, operation)
        table.addCount(
            "  allocations in 10,000 calls under a slow rule", Counts.growth(from: before, to: Counts.allocations),
            .exactly(0))
    }

    /// How much more two threads do than one, beside how much more they do of the bare loop.
    private static func measureThreads(_ table: inout Table, _ effort: Effort, _ store: CircuitStore) async throws {
        let breaker = try store.breaker(.init(name: "threads"))
        let operation = Operations.answer(CommandLine.arguments.count)
        let calls = effort.fastCalls * 4
        // The first tick that sees so many calls gives each CPU a lane of its own.
        _ = try await HealthyCall.guarded(100_000, breaker, operation)
        _ = breaker.totals
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await HealthyCall.bare(calls, operation) },
                { try await Self.twice { try await HealthyCall.bare(calls, operation) } },
                { try await HealthyCall.guarded(calls, breaker, operation) },
                { try await Self.twice { try await HealthyCall.guarded(calls, breaker, operation) } },
            ])
        table.addRatio(
            "two threads on one circuit, how they scale, against the bare loop", ours: rounds[2] / rounds[3],
            floor: rounds[0] / rounds[1], .atLeast(0.85), .plain)
    }

    /// The nanoseconds of a call where two tasks make as many each.
    private static func twice(_ body: @escaping @Sendable () async throws -> Double) async throws -> Double {
        let watch = Stopwatch()
        async let other = body()
        let own = try await body()
        let (mean, time) = ((try await other + own) / 2, watch.nanoseconds)
        return time > 0 ? mean / 2 : mean
    }

    // MARK: - Failures

    private static func config(_ name: String, _ window: Duration = .seconds(60)) -> CircuitBreaker.Config {
        .init(name: name, trip: .failureRate(1, minimumCalls: 1_000_000, within: window))
    }

    private static func measureFailures(_ table: inout Table, _ effort: Effort, _ store: CircuitStore) async throws {
        let breaker = try store.breaker(Self.config("rate"))
        // A success first: no share of less than all is reached, however many fail.
        try await breaker.run {}
        let totalled = try store.breaker(Self.config("held"))
        try await store.hold("held", .closed)
        let thread = HopThread()
        defer { thread.stop() }
        let count = effort.fastCalls / 10
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { Self.fail(count, breaker) },
                { Self.fail(count, totalled) },
                { await Self.failInTask(count / 4, breaker) },
                { await Self.hop(count / 4, thread) },
            ])
        table.addAmount(
            "a failure under a rate rule that trips nothing, sync", ours: rounds[0] / 1_000, atMost: 1, .microseconds)
        table.addDifference(
            "  what looking and deciding take of that, over one that decides nothing", ours: rounds[0],
            floor: rounds[1], atMost: 300, .nanoseconds)
        table.addRatio(
            "  async, against that and a hop to another thread and back", ours: rounds[2] / 1_000,
            floor: (rounds[0] + rounds[3]) / 1_000, .atMost(1), .microseconds)
    }

    @inline(never)
    private static func fail(_ count: Int, _ breaker: CircuitBreaker) -> Double {
        let watch = Stopwatch()
        for _ in 0..<count { _ = try? breaker.run { () throws -> Void in throw ServiceError() } }
        return watch.nanoseconds / Double(count)
    }

    @inline(never)
    private static func failInTask(_ count: Int, _ breaker: CircuitBreaker) async -> Double {
        let watch = Stopwatch()
        for _ in 0..<count { _ = try? await breaker.run { () async throws -> Void in throw ServiceError() } }
        return watch.nanoseconds / Double(count)
    }

    private static func hop(_ count: Int, _ thread: HopThread) async -> Double {
        let watch = Stopwatch()
        for _ in 0..<count { await thread.hop() }
        return watch.nanoseconds / Double(count)
    }

    /// In a child whose thread may make no system call.
    static func runWithoutSystemCalls(_ path: String) async throws {
        let breaker = try CircuitStore(path: path).breaker(Self.config("rate"))
        // What comes first makes the board, and says what the last error was.
        _ = Self.fail(100, breaker)
        try await Child.withoutSystemCalls { _ = Self.fail(Self.failures, breaker) }
    }

    // MARK: - Idleness

    private static let idleSeconds = 10

    private static func measureIdleness(_ table: inout Table, _ path: String) throws {
        let result = try Child.run(.idling, path)
        let counts = result.output.split { !$0.isNumber }.compactMap { Int($0) }
        guard result.code == 0, counts.count == 4 else { throw BenchmarkError("idling ended: \(result.output)") }
        table.addCount(
            "wake-ups of an idle store in \(Self.idleSeconds) s", max(0, counts[1] - counts[0]),
            .atMost(Self.idleSeconds + 2))
        // The good calls of such a circuit must reach other processes within 50 ms.
        table.addCount(
            "  with a circuit whose rule is about a share", max(0, counts[2] - counts[0]),
            .atMost(Self.idleSeconds * 21 + 10))
        table.addCount("  bytes that it wrote into its log", counts[3], .exactly(0))
    }

    /// In a child: prints how often its threads woke without a store, with one of which nobody asks anything, and with
    /// one that has a rule about a share, and by how much the log grew.
    static func idle(_ path: String) async throws {
        // The runtime's own threads wake, too, once there are tasks.
        await Task.yield()
        let withoutStore = Self.wakes()
        let store = try CircuitStore(path: path)
        let other = try store.breaker(.init(name: "other"))
        try await other.run {}
        // Until the file has been told.
        sleep(12)
        let withoutShare = Self.wakes()
        let breaker = try store.breaker(Self.config("idle", .seconds(16)))
        _ = Self.fail(100, breaker)
        try await breaker.run {}
        // Until the file has been told, and the window has passed.
        sleep(24)
        let log = Self.size(path + "-wal")
        print(withoutStore, withoutShare, Self.wakes(), Self.size(path + "-wal") - log)
        withExtendedLifetime((breaker, other)) {}
    }

    private static func wakes() -> Int {
        let before = Self.switches
        sleep(UInt32(Self.idleSeconds))
        return Self.switches - before
    }

    private static func size(_ path: String) -> Int {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// How often a thread of this process gave up its CPU.
    private static var switches: Int {
        var usage = rusage()
        #if canImport(Darwin)
        _ = unsafe getrusage(RUSAGE_SELF, &usage)
        #else
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        return usage.ru_nvcsw
    }
}

/// A thread that resumes whoever asks for it: what a task waits for, at least, that has something done elsewhere.
private final class HopThread: Sendable {
    private let waiting = Mutex<(continuation: CheckedContinuation<Void, Never>?, isStopped: Bool)>((nil, false))
    private let signal = DispatchSemaphore(value: 0)

    init() { Thread.detachNewThread { self.run() } }

    private func run() {
        while true {
            self.signal.wait()
            let (continuation, isStopped) = self.waiting.withLock { state in
                defer { state.continuation = nil }
                return (state.continuation, state.isStopped)
            }
            continuation?.resume()
            if isStopped { return }
        }
    }

    func hop() async {
        await withCheckedContinuation { continuation in
            self.waiting.withLock { $0.continuation = continuation }
            self.signal.signal()
        }
    }

    func stop() {
        self.waiting.withLock { $0.isStopped = true }
        self.signal.signal()
    }
}
