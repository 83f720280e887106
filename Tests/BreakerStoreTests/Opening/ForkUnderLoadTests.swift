import BreakerTestSupport
import Dispatch
import Synchronization
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Forks while other threads of the parent use the store: in the child their locks stay held for ever.
@Suite struct ForkUnderLoadTests {
    /// What a child does with its parent's store, each of which must come back.
    @Test(.timeLimit(.minutes(10))) func aChildWaitsForNoLockOfItsParent() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(directory) }
            let store = try CircuitStore(path: directory + "/circuits.db", configuration: Stores.configuration())
            let closed = try CircuitStore(path: directory + "/closed.db", configuration: Stores.configuration())
            let afterwards = try closed.breaker(.init(name: "closed"))
            closed.close()
            let config = CircuitBreaker.Config(name: "a", trip: .failures(1_000_000, within: .seconds(60)))
            let breaker = try store.breaker(config)
            let used = Used(store: store, breaker: breaker, afterwards: afterwards, permit: try breaker.admit())
            // What Swift's runtime does once is done before the first fork: a child would wait for ever for a thread of
            // its parent that was about it.
            for number in 0..<3 { used.hammer(number, directory) }
            let isOver = Locked(false)
            let ends = (0..<3).map { number in
                let thread = StoreThread()
                _ = thread.start { while !isOver.withLock({ $0 }) { used.hammer(number, directory) } }
                return thread
            }
            var forks: [Forked.End] = []
            for _ in 0..<100 { forks.append(Forked.run(underLoad: true) { used.tryAll() }) }
            isOver.withLock { $0 = true }
            for end in ends { _ = end.waitForEnd(until: Deadline(after: .hangLimit)) }
            store.close()
            let bad = forks.filter { $0 != .exited(0) }
            if !bad.isEmpty { Forked.say("\(bad.count) of \(forks.count): \(bad)") }
            exit(bad.isEmpty ? 0 : 1)
        }
    }

    /// A child takes the lock of the names for a free one, whoever of its parent held that at the fork.
    @Test(.timeLimit(.minutes(10))) func aChildNamesTypesBesideAHeldLock() async {
        await #expect(processExitsWith: .success) {
            let end = TypeNames.known.withLock { _ in
                Forked.run { TypeNames.name(of: CallFailure.self) == "CallFailure" ? 0 : 1 }
            }
            exit(end == .exited(0) ? 0 : 1)
        }
    }

    /// A thread of the store blocks all signals, the alarm of a child that it forks too.
    @Test(.timeLimit(.minutes(10))) func aChildThatWaitsForEverIsEnded() async {
        await #expect(processExitsWith: .success) {
            let isEnded = Locked(false)
            let thread = StoreThread()
            let isStarted = thread.start {
                let child = fork(forSeconds: 1)
                guard child == 0 else { return isEnded.withLock { $0 = Forked.wait(for: child) == .killed(SIGALRM) } }
                while true { pause() }
            }
            guard isStarted, thread.waitForEnd(until: Deadline(after: .seconds(300))) else { exit(2) }
            exit(isEnded.withLock { $0 } ? 0 : 1)
        }
    }
}

private struct Used: Sendable {
    let store: CircuitStore
    let breaker: CircuitBreaker
    /// A handle of a store that was closed before.
    let afterwards: CircuitBreaker
    let permit: CallPermit

    /// Takes the locks by turns, as fast as can be.
    func hammer(_ number: Int, _ directory: String) {
        for _ in 0..<20 {
            switch number {
            case 0:
                self.breaker.recordFailure()
                self.breaker.circuit.register(ConfigBox(self.breaker.circuit.registeredConfig))
                if let read = self.breaker.circuit.lastRead { _ = self.breaker.circuit.update(read, if: { true }) }
                _ = self.store.health
                _ = self.store.backend.core?.isDegraded
            case 1:
                try? self.afterwards.run {}
                try? self.afterwards.run { throw CallFailure() }
                (try? self.afterwards.admit())?.fail()
                self.afterwards.recordFailure()
                _ = self.afterwards.failureCount
                _ = try? self.store.circuits()
                _ = self.breaker.isCallPermitted
            default:
                _ = self.breaker.config
                _ = self.breaker.state
                _ = try? self.store.breaker(.init(name: "b"))
                if let core = self.store.backend.core {
                    core.answers.source.withLock { _ in }
                    core.state.withLock { _ in }
                    core.feed.wake()
                    core.publishAllCounts()
                    _ = core.counting.beginSave(on: .pauseIsOver, by: 1, atMost: 1_000) { _ in true }
                    core.requestMaintenance()
                }
                // The second store of a path enters and leaves the table of the process's cores.
                (try? CircuitStore(path: self.store.backend.file.path))?.close()
            }
        }
    }

    /// In the child; 0 if all was as it must be.
    func tryAll() -> Int32 {
        // Less than that of the others: a child that waits for ever is told from one that is slow.
        alarm(120)
        var ran = 0
        func isForked(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch {
                return (error as? BreakerStoreError)?.code == .forked
            }
        }
        for handle in [self.breaker, self.afterwards] {
            try? handle.run { ran += 1 }
            try? handle.run {
                ran += 1
                throw CallFailure()
            }
            (try? handle.admit())?.fail()
            handle.recordSuccess()
            handle.recordFailure()
            _ = handle.config
            _ = handle.state
            _ = handle.failureCount
            _ = handle.isCallPermitted
        }
        self.permit.fail()
        guard ran == 4 else { return 2 }
        guard case .degraded(_, let error) = self.store.health, error.code == .forked else { return 3 }
        let config = CircuitBreaker.Config(name: "c")
        guard isForked({ _ = try self.store.breaker(config) }), isForked({ _ = try self.store.circuits() }),
            isForked({ _ = try self.store.circuit(named: "a") }), isForked({ _ = try self.store.history() }),
            isForked({ _ = try self.store.workers() }), isForked({ try self.store.reset("a") }),
            isForked({ try self.store.hold("a", .open) }), isForked({ try self.store.release("a") }),
            isForked({ try self.store.forget("a") }), isForked({ try self.breaker.reset() })
        else { return 4 }
        _ = self.store.events()
        self.store.close()
        // The table of the cores, which is asked before a path is opened.
        var configuration = CircuitStore.Configuration()
        configuration.access = .existing
        guard (try? CircuitStore(path: self.store.backend.file.path + "-none", configuration: configuration)) == nil
        else { return 5 }
        return 0
    }
}
