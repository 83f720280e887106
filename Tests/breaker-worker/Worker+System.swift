import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the system lets this process do, and what it has taken of it.
extension Worker {
    /// `user <number>`: becomes another user; 0 changes nothing.
    func becomeUser(_ command: Command) throws -> String {
        let user = uid_t(try command.number(0))
        if user != 0 {
            guard setgid(user) == 0, setuid(user) == 0 else { throw SystemError("become another user") }
        }
        return "ok"
    }

    /// `squat <path> <from> <count>`: locks bytes of a file for as long as this process lives.
    func squat(_ command: Command) throws -> String {
        let path = try command.word(0)
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, ts_lock(descriptor, Int64(try command.number(1)), Int64(try command.number(2))) == 0
        else { throw SystemError("lock bytes of \(path)") }
        return "ok"
    }

    /// `forbid-shared-sleep`: no thread can sleep on memory that processes share, from now on.
    func forbidSharedSleep() throws -> String {
        guard ts_forbid_shared_sleep() == 0 else { throw SystemError("forbid sleeping on shared memory") }
        return "ok"
    }

    /// `limit-files 0|none`: no file may grow, as on a full disk; or each may again.
    func limitFiles(_ command: Command) throws -> String {
        // A file that may not grow is an error, no signal.
        _ = signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        #if canImport(Darwin)
        let kind = RLIMIT_FSIZE
        #else
        let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #endif
        unsafe getrlimit(kind, &limit)
        limit.rlim_cur = try command.word(0) == "none" ? limit.rlim_max : 0
        guard unsafe setrlimit(kind, &limit) == 0 else { throw SystemError("limit files") }
        return "ok"
    }

    /// `memory [begin]`: the most bytes that this process has taken since it was last told to begin.
    func tellMemory(_ command: Command) -> String {
        if command.has("begin") {
            Memory.forgetPeak()
            self.idleMemory = Memory.now
        }
        return "taken=\(Memory.peak - self.idleMemory)"
    }
}
