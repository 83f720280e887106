#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Child processes without a program of their own.
///
/// Only in a process that has no other threads at work, such as the one of an exit test that has just begun.
enum Forked {
    enum End: Equatable {
        case exited(Int32)
        case killed(Int32)
    }

    /// Runs `body` in a child and waits for its end.
    static func run(_ body: () -> Int32) -> End { Self.wait(for: Self.start(body)) }

    static func start(_ body: () -> Int32) -> pid_t {
        let child = fork()
        if child == 0 { _exit(body()) }
        return child
    }

    static func wait(for child: pid_t) -> End {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal)
    }

    static func kill(_ child: pid_t) {
        _ = sendSignal(child, SIGKILL)
        _ = Self.wait(for: child)
    }

    /// Says something for people: what `print` keeps back is lost when a child ends.
    static func say(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        _ = unsafe write(2, bytes, bytes.count)
    }

    /// Ends this process as nothing else could.
    static func die() -> Never {
        _ = sendSignal(getpid(), SIGKILL)
        while true { pause() }
    }
}

// The enum's own function hides that of C.
private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }
