#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A pipe by which any thread ends the wait of the thread that uses the connection (the self-pipe trick).
///
/// Several calls of `wake` before a wait end that wait alone.
final class WakeUp: Sendable {
    /// Becomes readable when a thread calls `wake`.
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(FleetError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw FleetError(code: .unavailable, message: "could not create a pipe: too many files are open")
        }
        self.descriptor = ends[0]
        self.writeEnd = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // Neither end ever blocks: a full pipe is readable, too, and so ends the wait.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(self.descriptor)
        close(self.writeEnd)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = unsafe write(self.writeEnd, &byte, 1)
    }

    /// Waits until a thread calls `wake`; false if the time is over first.
    func wait(for duration: Duration) -> Bool {
        guard Poll.wait(for: duration, reading: [self.descriptor]).contains(self.descriptor) else { return false }
        self.drain()
        return true
    }

    /// Forgets all calls of `wake` so far.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while unsafe read(self.descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
#endif
