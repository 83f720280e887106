import BreakerStore
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
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw Missing(what: "a pipe") }
        let child = ts_fork()
        if child == 0 {
            let text = Array(Self.lifeAfterFork(store, breaker, config).utf8)
            _ = unsafe write(ends[1], text, text.count)
            _exit(0)
        }
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
        // Neither of them may wait for a lock that the parent's threads had, or take the parent's worker away.
        store.close()
        return "ran=\(ran) refused=\(refused) codes=\(codes.joined(separator: ","))"
    }
}
