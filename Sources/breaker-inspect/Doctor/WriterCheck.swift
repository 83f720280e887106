import BreakerStore

/// Finds a stopped process that keeps the store's write lock: all others wait for it in vain.
enum WriterCheck {
    /// Where SQLite locks the wal-index for writing (https://sqlite.org/walformat.html#locks).
    private static let writeLock = "120"

    static func finding(_ facts: StoreFacts) -> Finding {
        let check = "writers"
        guard let index = facts.index, let pid = self.holder(of: index.inode) else {
            return .ok(check, "no stopped process keeps others from writing")
        }
        return .wrong(
            check, "process \(pid) is stopped and keeps all others from writing",
            "let it go on with 'kill -CONT \(pid)', or end it with 'kill -KILL \(pid)'"
        )
    }

    /// The stopped process that holds the lock on the file of this number.
    ///
    /// The kernel tells of all locks in /proc/locks (proc_locks(5)): to ask by the file itself, it would have to be opened
    /// and closed, which drops the locks that this process has on it.
    private static func holder(of inode: UInt64) -> Int32? {
        for line in (SmallFile.text("/proc/locks") ?? "").split(separator: "\n") {
            // `1: POSIX  ADVISORY  WRITE 708 08:01:2097 120 120`
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", fields[3] == "WRITE", fields[6] == Self.writeLock,
                fields[5].split(separator: ":").last == "\(inode)", let pid = Int32(fields[4])
            else { continue }
            if Self.isStopped(pid) { return pid }
        }
        return nil
    }

    private static func isStopped(_ pid: Int32) -> Bool {
        // `708 (name) T …`: the name may hold anything.
        guard let text = SmallFile.text("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return false }
        return text[text.index(after: end)...].split(separator: " ").first == "T"
    }
}
