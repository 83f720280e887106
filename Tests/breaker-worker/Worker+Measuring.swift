import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How long calls take while something happens to the files.
extension Worker {
    /// `measure <circuit> <milliseconds>`: healthy calls on a thread and in a task, beside tasks whose calls fail.
    ///
    /// Answers the figures of the healthy calls, and the milliseconds of the longest failing one.
    func measure(_ command: Command) async throws -> String {
        let breaker = try self.breaker(command.word(0))
        let end = ContinuousClock.now + .milliseconds(try command.number(1))
        let sync = Locked(Stopwatch())
        let thread = StoreThread()
        guard thread.start({ sync.withLock { $0 = Self.callHealthily(breaker, until: end) } }) else {
            throw Missing(what: "a thread")
        }
        async let healthy = Self.callHealthilyInTask(breaker, until: end)
        async let failing = Self.failInTasks(breaker, until: end)
        let (inTask, (failures, longest)) = await (healthy, failing)
        guard thread.waitForEnd(until: Deadline(after: .hangLimit)) else { throw Missing(what: "an end of calls") }
        var all = sync.withLock { $0 }
        all.add(inTask.watch)
        let strange = inTask.strange
        return "\(all.text) failures=\(failures) longest-failing=\(longest) strange=\(strange)"
    }

    private static func callHealthily(_ breaker: CircuitBreaker, until end: ContinuousClock.Instant) -> Stopwatch {
        var watch = Stopwatch()
        while ContinuousClock.now < end {
            for _ in 0..<200 { watch.measure { try? breaker.run {} } }
            usleep(1_000)
        }
        return watch
    }

    private static func callHealthilyInTask(
        _ breaker: CircuitBreaker, until end: ContinuousClock.Instant
    ) async -> (watch: Stopwatch, strange: Int) {
        var watch = Stopwatch()
        var strange = 0
        while ContinuousClock.now < end {
            for _ in 0..<200 {
                await watch.measure {
                    do { try await breaker.run {} } catch { strange += 1 }
                }
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return (watch, strange)
    }

    /// How many calls failed, and the milliseconds of the longest.
    private static func failInTasks(
        _ breaker: CircuitBreaker, until end: ContinuousClock.Instant
    ) async -> (failures: Int, longest: Int) {
        await withTaskGroup(of: (Int, Int).self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var (failures, longest) = (0, 0)
                    while ContinuousClock.now < end {
                        let began = ContinuousClock.now
                        try? await breaker.run { throw Boom() }
                        failures += 1
                        longest = max(longest, Int((ContinuousClock.now - began) / .milliseconds(1)))
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                    return (failures, longest)
                }
            }
            return await group.reduce(into: (0, 0)) { sum, one in
                sum.0 += one.0
                sum.1 = max(sum.1, one.1)
            }
        }
    }
}
