import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that holds bytes of a lock file for as long as it lives, and does nothing else.
enum Squatter {
    /// `<path> <from> <count>`: takes the locks, says so, and waits until its input ends.
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let from = Int64(arguments[1]), let count = Int64(arguments[2]) else { return 64 }
        let descriptor = unsafe open(arguments[0], O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, ts_lock(descriptor, from, count) == 0 else { return 1 }
        _ = unsafe write(STDOUT_FILENO, "ok\n", 3)
        while readLine() != nil {}
        return 0
    }
}
