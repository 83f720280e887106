import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another process that has a lock on the store's wal-index.
///
/// The kernel lists all locks in /proc/locks (proc_locks(5)). To query the file itself, this process would have to
/// open and close it, which drops this process's locks on it.
struct IndexHolder: Hashable {
    private enum Kind: Substring {
        case read = "READ"
        case write = "WRITE"
    }

    let pid: Int32
    let name: String
    let isStopped: Bool

    /// The process that has the write lock now; nil if there is none, or the kernel does not list it.
    static func writer(_ facts: StoreFiles) -> IndexHolder? { self.all(facts, .write, of: 120...120).first }

    /// The processes that read the log for more than a moment, and so keep writers from restarting it.
    ///
    /// Each reader has a lock on one of five read marks (https://sqlite.org/walformat.html#locks). A service has one
    /// for only some microseconds, so a process counts only if two readings of the locks, 100 ms apart, find it.
    static func readers(_ facts: StoreFiles) -> [IndexHolder] {
        let first = self.all(facts, .read, of: 123...127)
        guard !first.isEmpty else { return [] }
        usleep(100_000)
        let second = self.all(facts, .read, of: 123...127)
        return first.filter { holder in second.contains { $0.pid == holder.pid } }
    }

    private static func all(_ facts: StoreFiles, _ kind: Kind, of bytes: ClosedRange<Int64>) -> [IndexHolder] {
        guard let index = facts.index else { return [] }
        var holders: [IndexHolder] = []
        for line in (SmallFile.text("/proc/locks") ?? "").split(separator: "\n") {
            // Such as `1: POSIX  ADVISORY  READ 708 08:01:2097 124 124`; a lock that is waited for has an extra field.
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", fields[3] == kind.rawValue,
                index.isNamed(inLocks: fields[5]), let pid = Int32(fields[4]), pid != getpid(),
                // The kernel joins adjacent locks of a process to one range.
                let start = Int64(fields[6]), let end = fields[7] == "EOF" ? .max : Int64(fields[7]),
                start <= end, (start...end).overlaps(bytes), !holders.contains(where: { $0.pid == pid }),
                let holder = IndexHolder(pid: pid)
            else { continue }
            holders.append(holder)
        }
        return holders
    }

    private init?(pid: Int32) {
        // Such as `708 (name) T …`, where the name may be any text.
        guard let text = SmallFile.text("/proc/\(pid)/stat"), let start = text.firstIndex(of: "("),
            let end = text.lastIndex(of: ")")
        else { return nil }
        self.pid = pid
        self.name = text[text.index(after: start)..<end].description.escaped
        let state = text[text.index(after: end)...].split(separator: " ").first
        // The state of a process that was stopped by a signal, or by a debugger.
        self.isStopped = state == "T" || state == "t"
    }

    var description: String { "process \(self.pid) (\(self.name))" }
}
