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
/// The kernel tells of all locks in /proc/locks (proc_locks(5)): to ask by the file itself, it would have to be opened
/// and closed, which drops the locks that this process has on it.
struct IndexHolder: Hashable {
    private enum Kind: Substring {
        case read = "READ"
        case write = "WRITE"
    }

    let pid: Int32
    let name: String
    let isStopped: Bool

    /// The process that keeps the write lock just now; nil if none does, or the kernel does not tell.
    static func writer(_ facts: StoreFiles) -> IndexHolder? { self.all(facts, .write, of: 120...120).first }

    /// The processes that read the log for longer than a moment, and so keep it from beginning anew.
    ///
    /// Each reader has a lock on one of five read marks (https://sqlite.org/walformat.html#locks). Services have one
    /// for some microseconds at a time: so a process counts that is there in two looks.
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
            // `1: POSIX  ADVISORY  READ 708 08:01:2097 124 124`; a lock that is waited for has another field.
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", fields[3] == kind.rawValue,
                index.isNamed(inLocks: fields[5]), let pid = Int32(fields[4]), pid != getpid(),
                // The kernel makes one range of the locks that a process has side by side.
                let start = Int64(fields[6]), let end = fields[7] == "EOF" ? .max : Int64(fields[7]),
                start <= end, (start...end).overlaps(bytes), !holders.contains(where: { $0.pid == pid }),
                let holder = IndexHolder(pid: pid)
            else { continue }
            holders.append(holder)
        }
        return holders
    }

    private init?(pid: Int32) {
        // `708 (name) T …`: the name may hold anything.
        guard let text = SmallFile.text("/proc/\(pid)/stat"), let start = text.firstIndex(of: "("),
            let end = text.lastIndex(of: ")")
        else { return nil }
        self.pid = pid
        self.name = text[text.index(after: start)..<end].description.escaped
        let state = text[text.index(after: end)...].split(separator: " ").first
        // Stopped by a signal, or by a debugger.
        self.isStopped = state == "T" || state == "t"
    }

    var description: String { "process \(self.pid) (\(self.name))" }
}
