import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds other processes that have a lock on the store's wal-index.
///
/// The kernel lists all locks in /proc/locks (proc_locks(5)). To query the file itself, this process would have to
/// open and close it, which drops this process's locks on it.
enum IndexHolder {
    private enum Kind: Substring {
        case read = "READ"
        case write = "WRITE"
    }

    /// The process that has the write lock now; nil if there is none, or the kernel does not list it.
    static func writer(_ facts: StoreFiles) -> OtherProcess? { self.all(facts, .write, of: 120...120).first }

    /// The processes that read the log for more than a moment, and so keep writers from restarting it.
    ///
    /// Each reader has a lock on one of five read marks (https://sqlite.org/walformat.html#locks). A service has one
    /// for only some microseconds, so a process counts only if two readings of the locks, 100 ms apart, find it.
    static func readers(_ facts: StoreFiles) -> [OtherProcess] {
        let first = self.all(facts, .read, of: 123...127)
        guard !first.isEmpty else { return [] }
        usleep(100_000)
        let second = self.all(facts, .read, of: 123...127)
        return first.filter { holder in second.contains { $0.pid == holder.pid } }
    }

    private static func all(_ facts: StoreFiles, _ kind: Kind, of bytes: ClosedRange<Int64>) -> [OtherProcess] {
        guard let index = facts.index else { return [] }
        var holders: [OtherProcess] = []
        for line in (SmallFile.text("/proc/locks") ?? "").split(separator: "\n") {
            // Such as `1: POSIX  ADVISORY  READ 708 08:01:2097 124 124`; a lock that is waited for has an extra field.
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", fields[3] == kind.rawValue,
                index.isNamed(inLocks: fields[5]), let pid = Int32(fields[4]), pid != getpid(),
                // The kernel joins adjacent locks of a process to one range.
                let start = Int64(fields[6]), let end = fields[7] == "EOF" ? .max : Int64(fields[7]),
                start <= end, (start...end).overlaps(bytes), !holders.contains(where: { $0.pid == pid }),
                let holder = OtherProcess(pid: pid)
            else { continue }
            holders.append(holder)
        }
        return holders
    }
}
