import BreakerStore

/// Another process, as the kernel lists it.
struct OtherProcess: Hashable {
    let pid: Int32
    let name: String
    let isStopped: Bool

    /// Nil if there is none, or the kernel does not list it.
    init?(pid: Int32) {
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

    /// What to do about a stopped process.
    var adviceWhenStopped: String {
        "let it go on with 'kill -CONT \(self.pid)', or end it with 'kill -KILL \(self.pid)'"
    }
}
