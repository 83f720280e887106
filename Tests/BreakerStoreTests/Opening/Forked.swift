import BreakerTestSupport
import CTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Child processes without a program of their own.
enum Forked {
    enum End: Equatable {
        case exited(Int32)
        case killed(Int32)
    }

    /// Runs `body` in a child and waits for its end.
    static func run(underLoad: Bool = false, _ body: @escaping () -> Int32) -> End {
        Self.wait(for: Self.start(underLoad: underLoad, body))
    }

    /// Runs `body` while a child stands where it calls `pause`, and waits for the child's end.
    ///
    /// A child that ends before, or a parent that throws, closes its end of a pipe, so that nobody waits for it.
    static func run(
        _ child: @escaping (_ pause: () -> Void) -> Int32, besideItsPause body: () throws -> Void
    ) throws -> End {
        var arrived: [Int32] = [0, 0]
        var left: [Int32] = [0, 0]
        unsafe pipe(&arrived)
        unsafe pipe(&left)
        let id = Self.start {
            close(arrived[0])
            close(left[1])
            return child {
                var byte: UInt8 = 0
                unsafe write(arrived[1], &byte, 1)
                unsafe read(left[0], &byte, 1)
            }
        }
        close(arrived[1])
        close(left[0])
        var byte: UInt8 = 0
        let isThere = unsafe read(arrived[0], &byte, 1) == 1
        if !isThere { Issue.record("the child ended before its pause") }
        let result = Result { if isThere { try body() } }
        close(left[1])
        close(arrived[0])
        let end = Self.wait(for: id)
        try result.get()
        return end
    }

    /// Forks on a thread that has done nothing yet.
    ///
    /// Swift's locks on Linux keep the id of the thread that has waited for one, which a child takes for its own: two
    /// threads of that child that wait for each other then wait for ever, or trap (seen on 6.3.1).
    ///
    /// - Parameter underLoad: other threads of this process may be at work just then; else this waits until all sleep.
    static func start(underLoad: Bool = false, _ body: @escaping () -> Int32) -> pid_t {
        ts_note_no_backtraces()
        let work = Work(underLoad, body)
        let thread = StoreThread()
        let isStarted = thread.start { work.child = work.fork() }
        guard isStarted, thread.waitForEnd(until: Deadline(after: .hangLimit)), work.child > 0 else {
            // To `kill` and `wait`, -1 is all processes.
            fatalError("no fork: the other threads of this process do not rest")
        }
        return work.child
    }

    /// Sendable: one thread at a time uses it; the other waits.
    private final class Work: @unchecked Sendable {
        private let underLoad: Bool
        private let body: () -> Int32
        var child: pid_t = -1

        init(_ underLoad: Bool, _ body: @escaping () -> Int32) {
            self.underLoad = underLoad
            self.body = body
        }

        func fork() -> pid_t {
            let child = self.underLoad ? BreakerTestSupport.fork(forSeconds: 60) : forkBesideSleepers(forSeconds: 60)
            guard child == 0 else { return child }
            _exit(self.body())
        }
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

    /// Ends root's rights for good, for those of a user and of these groups.
    static func become(_ user: uid_t, of group: gid_t, groups: [gid_t] = []) {
        var groups = groups
        unsafe setgroups(numericCast(groups.count), &groups)
        setgid(group)
        setuid(user)
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
