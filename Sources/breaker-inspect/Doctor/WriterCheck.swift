import BreakerStore

/// Finds the process that keeps the store's write lock: all others wait for it.
struct WriterCheck {
    /// Where SQLite locks the wal-index for writing (https://sqlite.org/walformat.html#locks).
    private static let writeLock = "120"

    let pid: Int32
    private let name: String
    private let isStopped: Bool

    /// Who holds the lock just now; nil if nobody does.
    ///
    /// The kernel tells of all locks in /proc/locks (proc_locks(5)): to ask by the file itself, it would have to be
    /// opened and closed, which drops the locks that this process has on it.
    init?(_ facts: StoreFiles) {
        guard let inode = facts.index?.inode else { return nil }
        for line in (SmallFile.text("/proc/locks") ?? "").split(separator: "\n") {
            // `1: POSIX  ADVISORY  WRITE 708 08:01:2097 120 120`
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", fields[3] == "WRITE", fields[6] == Self.writeLock,
                fields[5].split(separator: ":").last == "\(inode)", let pid = Int32(fields[4])
            else { continue }
            // `708 (name) T …`: the name may hold anything.
            guard let text = SmallFile.text("/proc/\(pid)/stat"), let start = text.firstIndex(of: "("),
                let end = text.lastIndex(of: ")")
            else { continue }
            self.pid = pid
            self.name = text[text.index(after: start)..<end].description.escaped
            let state = text[text.index(after: end)...].split(separator: " ").first
            // Stopped by a signal, or by a debugger.
            self.isStopped = state == "T" || state == "t"
            return
        }
        return nil
    }

    /// - Parameter isWaitedFor: whether workers have waited for the lock in vain: then a process that runs is worth a
    ///   word, too.
    static func finding(_ facts: StoreFiles, isWaitedFor: Bool) -> Finding {
        let check = "writers"
        guard let holder = WriterCheck(facts), holder.isStopped || isWaitedFor else {
            return .ok(check, "no stopped process keeps others from writing")
        }
        return .wrong(check, holder.sentence, holder.advice)
    }

    /// What it does to the others.
    var sentence: String {
        "process \(self.pid) (\(self.name)) \(self.isStopped ? "is stopped and " : "")keeps all others from writing"
    }

    var advice: String {
        self.isStopped
            ? "let it go on with 'kill -CONT \(self.pid)', or end it with 'kill -KILL \(self.pid)'"
            : "wait until its transaction is over, or end it"
    }
}
