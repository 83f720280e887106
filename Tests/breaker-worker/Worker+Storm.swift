import BreakerStore
import BreakerTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The verb `storm`: calls from many tasks while the store is closed and opened, or loses its files.
extension Worker {
    /// `storm <path> <what> <rounds>`: 32 tasks call while the store is closed, reopened or loses its files.
    ///
    /// `what` is `close`, `replace` (by `<path>.other<round>`), `remove-log` or `remove-all`.
    func storm(_ command: Command) async throws -> String {
        let path = try command.word(0)
        let what = try command.word(1)
        let rounds = try command.number(2)
        let stage = Stage(try self.openStage(path))
        async let counters = Self.callFromTasks(stage)
        for round in 0..<rounds {
            // A round begins when the calls of the last one are over: each meets each change.
            await stage.untilMoreCalls(than: 32)
            switch what {
            case "close":
                stage.breaker.withLock { $0.store }.close()
                let reopened = try self.openStage(path)
                stage.breaker.withLock { $0 = reopened }
            case "replace":
                for suffix in ["", "-wal", "-shm", "-lock"] {
                    unsafe rename("\(path).other\(round)\(suffix)", path + suffix)
                }
            case "remove-log": unsafe unlink(path + "-wal")
            case "remove-all": for suffix in ["", "-wal", "-shm", "-lock"] { unsafe unlink(path + suffix) }
            default: throw Missing(what: "a storm '\(what)'")
            }
        }
        await stage.untilMoreCalls(than: 32)
        stage.isOver.store(true, ordering: .relaxed)
        let tally = await counters
        self.use(stage.breaker.withLock { $0.store })
        return "\(tally.text) strange=\(stage.strangeErrors.load(ordering: .relaxed))"
    }

    private func openStage(_ path: String) throws -> Stage.Pair {
        let store = try CircuitStore(path: path, configuration: self.configuration)
        let breaker = try store.breaker(
            .init(name: "storm", recoveryTimeout: .milliseconds(1), maxFailures: 1_000, rollingWindow: .seconds(60))
        )
        self.breakers["storm"] = breaker
        return Stage.Pair(store: store, breaker: breaker)
    }

    private static func callFromTasks(_ stage: Stage) async -> CircuitCounters {
        await withTaskGroup(of: CircuitCounters.self) { group in
            for task in 0..<32 { group.addTask { await self.callOnAndOn(stage, task) } }
            return await group.reduce(into: CircuitCounters()) { total, tally in
                total.ran += tally.ran
                total.failed += tally.failed
                total.refused += tally.refused
            }
        }
    }

    private static func callOnAndOn(_ stage: Stage, _ task: Int) async -> CircuitCounters {
        var tally = CircuitCounters()
        var number = task
        while !stage.isOver.load(ordering: .relaxed) {
            let breaker = stage.breaker.withLock { $0.breaker }
            number += 1
            let fails = number.isMultiple(of: 50)
            do {
                try await breaker.run {
                    tally.ran += 1
                    if fails { throw Boom() }
                }
            } catch is Boom {
                tally.failed += 1
            } catch is CircuitOpenError {
                tally.refused += 1
            } catch {
                stage.strangeErrors.add(1, ordering: .relaxed)
            }
            if number.isMultiple(of: 7) { _ = breaker.isCallPermitted }
            if number.isMultiple(of: 97) { _ = breaker.state }
            stage.calls.add(1, ordering: .relaxed)
            await Task.yield()
        }
        return tally
    }
}

/// What the tasks of a storm share.
private final class Stage: Sendable {
    struct Pair: Sendable {
        let store: CircuitStore
        let breaker: CircuitBreaker
    }

    let breaker: Locked<Pair>
    let calls = Atomic<Int>(0)
    let strangeErrors = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    init(_ pair: Pair) { self.breaker = Locked(pair) }

    func untilMoreCalls(than count: Int) async {
        let target = self.calls.load(ordering: .relaxed) + count
        while self.calls.load(ordering: .relaxed) <= target { await Task.yield() }
    }
}
