import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The verbs that act at the library's hooks (`Hook`): a process dies, stops or halts there. Debug builds have hooks.
extension Worker {
    /// `die-at <point> <times>`: SIGKILL when the library comes to a point of its own for the nth time from now on.
    func dieAt(_ command: Command) throws -> String {
        let point = try command.word(0)
        let times = try command.number(1)
        let reached = self.pointsReached
        reached.withLock { $0 = 0 }
        #if BREAKERSTORE_HOOKS
        Hook.install { name in
            guard name == point else { return }
            let count = reached.withLock { count in
                count += 1
                return count
            }
            if count == times { kill(getpid(), SIGKILL) }
        }
        #endif
        return "ok"
    }

    /// `stop-at <point>`: threads of the library that come to a point of its own wait there until `let-go`.
    func stopAt(_ command: Command) throws -> String {
        let point = try command.word(0)
        let (isStopping, reached) = (self.isStopping, self.pointsReached)
        isStopping.withLock { $0 = true }
        #if BREAKERSTORE_HOOKS
        Hook.install { name in
            guard name == point else { return }
            while isStopping.withLock({ $0 }) { usleep(1_000) }
            reached.withLock { $0 += 1 }
        }
        #endif
        return "ok"
    }

    func letGo() -> String {
        self.isStopping.withLock { $0 = false }
        return "ok"
    }

    /// `halt-at <point>`: halts the whole process when the library comes to a point of its own, once.
    func haltAt(_ command: Command) throws -> String {
        let point = try command.word(0)
        #if BREAKERSTORE_HOOKS
        Hook.install { name in
            guard name == point else { return }
            Hook.install(nil)
            // To this thread, which goes no further; one for the process may be taken by another.
            raise(SIGSTOP)
        }
        #endif
        return "ok"
    }

    /// `reached`: how often it has come there since.
    func tellReached() -> String { "times=\(self.pointsReached.withLock { $0 })" }
}
