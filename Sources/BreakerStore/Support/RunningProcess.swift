import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process of this host, identified by its id and its start: ids are used again.
package struct RunningProcess: Hashable, Sendable {
    package let pid: Int32
    /// In hundredths of a second: since the boot on Linux, since 1970 on other systems.
    package let start: Int64

    package init(pid: Int32, start: Int64) {
        self.pid = pid
        self.start = start
    }

    /// The process that has this id now; nil if there is none, if it is a zombie, or if the system does not say.
    package init?(pid: Int32) {
        var found = bs_running_process()
        guard unsafe bs_find_process(pid, &found) != 0 else { return nil }
        self.init(pid: pid, start: found.start)
    }

    /// This process; nil if the system does not say when it has started.
    package static var current: RunningProcess? { RunningProcess(pid: getpid()) }

    /// The id of the parent; nil if this process has ended.
    package var parent: Int32? {
        var found = bs_running_process()
        guard unsafe bs_find_process(self.pid, &found) != 0, found.start == self.start else { return nil }
        return found.parent
    }

    /// The processes that have started this one, the parent first, as far as they can be seen.
    package var ancestors: [RunningProcess] {
        var found: [RunningProcess] = []
        // Bounded, because parents that end while this is read could lead in a circle.
        while found.count < 10_000, let pid = (found.last ?? self).parent, pid > 0,
            let process = RunningProcess(pid: pid)
        {
            found.append(process)
        }
        return found
    }

    package var isRunning: Bool { RunningProcess(pid: self.pid) == self }
}
