import BreakerStore
import CSQLite
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// A process that calls circuits, until it is killed or has done enough.
    struct Worker {
        struct Lost: Error {
            let what: String
        }

        let process: Int
        let plan: Plan
        let path: String
        let pipe: Int32

        /// Returns the exit code.
        func run(childOf parent: pid_t) -> Int32 {
            do {
                Steps.enter(.open)
                switch self.plan.end {
                case .atStep(let place, let step): Steps.install(place, step, pipe: self.pipe)
                case .afterNotes, .afterTime: break
                case .witness: return try self.bearWitness()
                }
                // The living may be waited for, but not for long.
                let (store, breakers) = try self.inTime("to open", 3_000_000) { try self.open() }
                let caller = Caller(self, 0, store, breakers)
                for index in 1..<max(1, self.plan.callers) { self.startCaller(index, store, breakers) }
                for _ in 0..<self.plan.calls where getppid() == parent { caller.act() }
                Steps.enter(.close)
                // The others may be calling.
                store.close()
                return 0
            } catch {
                self.complain("it ended with \(error)")
                return 1
            }
        }

        /// Calls beside the others: a thread, or a task.
        private func startCaller(_ index: Int, _ store: CircuitStore, _ breakers: [CircuitBreaker]) {
            let (worker, calls) = (self, self.plan.calls)
            if index.isMultiple(of: 2) {
                Thread.detachNewThread {
                    let caller = Caller(worker, index, store, breakers)
                    for _ in 0..<calls { caller.act() }
                }
            } else {
                Task.detached {
                    let caller = Caller(worker, index, store, breakers)
                    for _ in 0..<calls { await caller.actInTask() }
                }
            }
        }

        func open() throws -> (CircuitStore, [CircuitBreaker]) {
            var configuration = CircuitStore.Configuration()
            // A busy machine is no failure.
            configuration.busyTimeout = .seconds(20)
            configuration.eventsKept = 1_000_000
            configuration.workerName = "torture"
            let store = try CircuitStore(path: self.path, configuration: configuration)
            Steps.leave(.open)
            var policy = CallPolicy()
            policy.describe = { ($0 as? Caller.Told)?.text ?? "" }
            let breakers = try Rule.all.enumerated().map { circuit, rule in
                let config = CircuitBreaker.Config(
                    name: Rule.name(circuit),
                    trip: .failures(rule.failures, within: .seconds(86_400)),
                    // Never reached: so the calls are measured, and looked at on the board.
                    slow: circuit == 0
                        ? SlowCallRule(longerThan: .seconds(86_400), minimumCalls: 1_000_000, within: .seconds(1))
                        : nil,
                    recovery: RecoveryRule(timeout: .microseconds(rule.recovery)),
                    probes: ProbeRule(limit: rule.probes, lease: .seconds(3_600))
                )
                return try store.breaker(config, calls: policy)
            }
            guard let own = try store.workers().first(where: { $0.pid == getpid() }) else {
                throw Lost(what: "no row of its own")
            }
            Note(.opened, own.id, what: Int64(sqlite3_libversion_number())).write(to: self.pipe)
            return (store, breakers)
        }

        func complain(_ what: String) {
            let text = Array("process \(self.process): \(what)".utf8.prefix(1_000))
            Note(.complaint, Int64(text.count)).write(to: self.pipe, text)
        }
    }
}
