import BreakerStore
import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a child of `fork` sees.
extension Worker {
    /// `fork <circuit>`: forks, and tells what the child could do with the stores of its parent.
    func fork(_ command: Command) throws -> String {
        let breaker = try self.breaker(command.word(0))
        let store = try self.store
        let config = breaker.config
        return try Self.inChild { Self.lifeAfterFork(store, breaker, config) }
    }

    /// `fork-anew <path> <circuit>`: forks, and tells how the child fared with a store of its own.
    func forkAnew(_ command: Command) throws -> String {
        let path = try command.word(0)
        let config = try self.config(named: command.word(1), command)
        let configuration = self.configuration
        return try Self.inChild {
            do {
                return try Self.lifeWithOwnStore(path, configuration, config)
            } catch {
                return "error=\(error)"
            }
        }
    }

    /// Forks, and returns what `body` says in the child, and how that ended.
    ///
    /// On a thread that has done nothing yet: Swift's locks on Linux keep the id of a thread that has waited for one,
    /// which a child takes for its own: two threads of that child that wait for each other then trap (seen on 6.3.1).
    private static func inChild(_ body: @escaping @Sendable () -> String) throws -> String {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw Missing(what: "a pipe") }
        let output = ends[1]
        let pid = Locked<pid_t>(-1)
        let thread = StoreThread()
        let isStarted = thread.start {
            let child = ts_fork_beside_sleepers(60)
            guard child == 0 else { return pid.withLock { $0 = child } }
            let text = Array(body().utf8)
            _ = unsafe write(output, text, text.count)
            _exit(0)
        }
        guard isStarted, thread.waitForEnd(until: Deadline(after: .hangLimit)) else {
            throw Missing(what: "a thread")
        }
        let child = pid.withLock { $0 }
        close(ends[1])
        defer { close(ends[0]) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var told = ""
        while case let count = unsafe read(ends[0], &bytes, bytes.count), count > 0 {
            told += String(decoding: bytes[..<count], as: UTF8.self)
        }
        var status: Int32 = 0
        unsafe waitpid(child, &status, 0)
        return "\(told) exit=\(ts_exit_code(status))"
    }

    private static func lifeAfterFork(
        _ store: CircuitStore,
        _ breaker: CircuitBreaker,
        _ config: CircuitBreaker.Config
    ) -> String {
        var ran = 0
        var refused = 0
        for fails in [false, true, true, false] {
            do {
                try breaker.run {
                    ran += 1
                    if fails { throw Boom() }
                }
            } catch is CircuitOpenError {
                refused += 1
            } catch {}
        }
        func code(_ body: () throws(BreakerStoreError) -> Void) -> String {
            do throws(BreakerStoreError) {
                try body()
                return "none"
            } catch {
                return error.code == .forked ? "forked" : "other"
            }
        }
        let codes = [
            code { () throws(BreakerStoreError) in _ = try store.breaker(config) },
            code { () throws(BreakerStoreError) in _ = try store.circuits() },
            code { () throws(BreakerStoreError) in _ = try store.circuit(named: config.name) },
            code { () throws(BreakerStoreError) in try store.reset(config.name) },
            code { () throws(BreakerStoreError) in _ = try store.history() },
            code { () throws(BreakerStoreError) in _ = try store.workers() },
            code { () throws(BreakerStoreError) in try breaker.reset() },
        ]
        var health = "other"
        if case .degraded(_, let error) = store.health, error.code == .forked { health = "forked" }
        // Neither of them may wait for a lock that the parent's threads had, or take the parent's worker away.
        store.close()
        return "ran=\(ran) refused=\(refused) codes=\(codes.joined(separator: ",")) health=\(health)"
    }

    private static func lifeWithOwnStore(
        _ path: String,
        _ configuration: CircuitStore.Configuration,
        _ config: CircuitBreaker.Config
    ) throws -> String {
        let threads = Self.entries("/proc/self/task")
        let before = Self.entries("/proc/self/fd")
        try Self.openAndClose(path, configuration, config)
        let afterOne = Self.entries("/proc/self/fd")
        let (wasHealthy, wasLocked, isLocked) = try Self.openAndClose(path, configuration, config)
        // The kernel takes a thread from the list a little after its end.
        for _ in 0..<5_000 where Self.entries("/proc/self/task") > threads { usleep(1_000) }
        return "healthy=\(wasHealthy) was-locked=\(wasLocked) locked=\(isLocked) "
            + "threads=\(Self.entries("/proc/self/task") - threads) left=\(afterOne - before) "
            + "left-by-second=\(Self.entries("/proc/self/fd") - afterOne)"
    }

    @discardableResult
    private static func openAndClose(
        _ path: String,
        _ configuration: CircuitStore.Configuration,
        _ config: CircuitBreaker.Config
    ) throws -> (wasHealthy: Bool, wasLocked: Int32, isLocked: Int32) {
        let store = try CircuitStore(path: path, configuration: configuration)
        let breaker = try store.breaker(config)
        breaker.recordFailure()
        let isHealthy = store.health.isHealthy
        let worker = try store.workers().first { $0.pid == getpid() }?.id ?? 0
        let wasLocked = unsafe ts_is_locked(path + "-lock", worker)
        store.close()
        return (isHealthy, wasLocked, unsafe ts_is_locked(path + "-lock", worker))
    }

    private static func entries(_ directory: String) -> Int {
        guard let stream = unsafe opendir(directory) else { return -1 }
        defer { unsafe closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        return count
    }
}
