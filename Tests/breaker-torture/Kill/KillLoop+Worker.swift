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
        /// Where the process notes its calls.
        let logs: String
        /// For lines about what must not be; it ends with the process.
        let pipe: Int32

        func log(_ lane: Int) throws -> CallLog { try KillLoop.log(in: self.logs, of: self.process, lane) }

        /// Returns the exit code.
        func run(childOf parent: pid_t) -> Int32 {
            do {
                Steps.enter(.open)
                switch self.plan.end {
                case .atStep(let place, let step): Steps.install(place, step, try self.log(0))
                case .afterCalls, .afterTime: break
                case .witness: return try self.bearWitness()
                }
                let (store, breakers) = try self.inTime("to open") { try self.open() }
                let caller = try Caller(self, 0, store, breakers)
                for lane in 1..<max(1, self.plan.callers) { self.startCaller(lane, store, breakers) }
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
        private func startCaller(_ lane: Int, _ store: CircuitStore, _ breakers: [CircuitBreaker]) {
            let (worker, calls) = (self, self.plan.calls)
            if lane.isMultiple(of: 2) {
                Thread.detachNewThread {
                    guard let caller = try? Caller(worker, lane, store, breakers) else { return }
                    for _ in 0..<calls { caller.act() }
                }
            } else {
                Task.detached {
                    guard let caller = try? Caller(worker, lane, store, breakers) else { return }
                    for _ in 0..<calls { await caller.actInTask() }
                }
            }
        }

        func open() throws -> (CircuitStore, [CircuitBreaker]) {
            var configuration = CircuitStore.Configuration()
            // Who waits for the dead, waits so long: that is told from a busy machine.
            configuration.busyTimeout = .seconds(180)
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
                    probes: ProbeRule(limit: rule.probes, lease: Rule.lease)
                )
                return try store.breaker(config, calls: policy)
            }
            guard let own = try store.workers().first(where: { $0.pid == getpid() }) else {
                throw Lost(what: "no row of its own")
            }
            let log = try self.log(0)
            log[.version] = Int64(sqlite3_libversion_number())
            log[.worker] = own.id
            return (store, breakers)
        }

        func complain(_ what: String) { KillLoop.say("process \(self.process): \(what)", to: self.pipe) }
    }

    /// One line, in one piece.
    static func say(_ what: String, to pipe: Int32) {
        let line = what.utf8.prefix(1_000).map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
        let bytes = line + [UInt8(ascii: "\n")]
        _ = unsafe write(pipe, bytes, bytes.count)
    }
}
