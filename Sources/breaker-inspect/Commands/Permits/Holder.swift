import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The process for which a call is made: it is the reporter of the call, and with its end a probe's slot is free.
struct Holder {
    let process: RunningProcess
    /// The name of its program, for people.
    let name: String
    /// Whether it is the parent, because none was named, and only a subshell: that ends with the command that it runs.
    let isSubshellByDefault: Bool

    static let option = Option(
        "holder-pid", "PID", help: "the process that makes the call; by default the parent of this one")

    /// Finds the process that the user names, else the parent of this process.
    ///
    /// Only an ancestor may be named: this process could not tell whether any other one makes the call.
    init(_ arguments: Arguments, verb: String) throws(Failure) {
        guard let text = arguments[Self.option] else {
            try self.init(parentFor: verb)
            return
        }
        guard let pid = Int32(text), pid > 0 else {
            throw .usage("option '--holder-pid' takes a process id, not \(text.quoted)", verb: verb)
        }
        let ancestors = Self.ancestors
        guard let process = ancestors.first(where: { $0.pid == pid }) else {
            throw .usage(
                "process \(pid) is no ancestor of this one",
                hint: "name the shell or the program that makes the call, such as --holder-pid $$")
        }
        // Each process of the host would be a part of its probes. In a container it may well make calls.
        guard pid != 1 || ancestors.first == process && Self.isOfThisSession(process) else {
            throw .usage(
                "process 1 has started all others, and can't make the call",
                hint: "name the shell or the program that makes it")
        }
        self.init(process, isSubshellByDefault: false)
    }

    private init(parentFor verb: String) throws(Failure) {
        guard let parent = Self.ancestors.first else {
            throw Failure(
                .failed, "cannot see the process that runs this one",
                hint: "name the process that makes the call with --holder-pid; /proc must be mounted")
        }
        guard !Self.adoptsOrphans(parent) || Self.isOfThisSession(parent) else {
            throw Failure(
                .failed,
                "the process that has started this one has ended, or is process \(parent.pid), which makes no call",
                hint: "name the process that makes it with --holder-pid")
        }
        let isSubshell = parent.parent.map { Self.isFork(parent.pid, of: $0) } ?? false
        self.init(parent, isSubshellByDefault: isSubshell)
    }

    private init(_ process: RunningProcess, isSubshellByDefault: Bool) {
        self.process = process
        self.isSubshellByDefault = isSubshellByDefault
        self.name = Self.name(of: process)?.escaped ?? "process"
    }

    /// The processes that have started this one, from the parent on.
    private static var ancestors: [RunningProcess] { RunningProcess.current?.ancestors ?? [] }

    /// Whether a process gets the children of others that have ended: process 1, and systemd for a user's processes.
    private static func adoptsOrphans(_ process: RunningProcess) -> Bool {
        process.pid == 1 || Self.name(of: process) == "systemd"
    }

    private static func name(of process: RunningProcess) -> String? {
        SmallFile.text("/proc/\(process.pid)/comm")?.split(separator: "\n").first.map(String.init)
    }

    private static func isOfThisSession(_ process: RunningProcess) -> Bool { getsid(process.pid) == getsid(0) }

    /// Whether a process is a fork of its parent that runs no other program, as a shell's subshell is.
    private static func isFork(_ pid: Int32, of parent: Int32) -> Bool {
        guard let program = SmallFile.target(ofLink: "/proc/\(pid)/exe"),
            program == SmallFile.target(ofLink: "/proc/\(parent)/exe"),
            let words = SmallFile.text("/proc/\(pid)/cmdline"), !words.isEmpty
        else { return false }
        return words == SmallFile.text("/proc/\(parent)/cmdline")
    }
}
