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
    /// Whether it is a subshell, which ends together with the command that it runs.
    let isSubshell: Bool

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
        guard let process = Self.ancestors.first(where: { $0.pid == pid }) else {
            throw .usage(
                "process \(pid) is no ancestor of this one",
                hint: "name the shell or the program that makes the call, such as --holder-pid $$")
        }
        self.init(process, isSubshell: false)
    }

    private init(parentFor verb: String) throws(Failure) {
        guard let parent = Self.ancestors.first else {
            throw Failure(
                .failed, "cannot see the process that runs this one",
                hint: "name the process that makes the call with --holder-pid; /proc must be mounted")
        }
        let isSubshell = parent.parent.map { Self.isFork(parent.pid, of: $0) } ?? false
        self.init(parent, isSubshell: isSubshell)
    }

    private init(_ process: RunningProcess, isSubshell: Bool) {
        self.process = process
        self.isSubshell = isSubshell
        let bytes = Self.bytes(ofFile: "/proc/\(process.pid)/comm", atMost: 64) ?? Array("process".utf8)
        let name = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
        self.name = name.map { $0.escaped } ?? "process"
    }

    /// The processes that have started this one, from the parent on.
    private static var ancestors: [RunningProcess] {
        var found: [RunningProcess] = []
        var next: Int32? = getppid()
        // A process that ends meanwhile could lead in a circle.
        while let pid = next, found.count < 1_000, let process = RunningProcess(pid: pid) {
            found.append(process)
            next = process.parent
        }
        return found
    }

    /// Whether a process is a fork of its parent that runs no other program, as a shell's subshell is.
    private static func isFork(_ pid: Int32, of parent: Int32) -> Bool {
        guard let program = Self.target(ofLink: "/proc/\(pid)/exe"),
            program == Self.target(ofLink: "/proc/\(parent)/exe"),
            let words = Self.bytes(ofFile: "/proc/\(pid)/cmdline", atMost: 65_536), !words.isEmpty
        else { return false }
        return words == Self.bytes(ofFile: "/proc/\(parent)/cmdline", atMost: 65_536)
    }

    private static func bytes(ofFile path: String, atMost count: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let readCount = unsafe read(descriptor, &bytes, count)
        guard readCount >= 0 else { return nil }
        bytes.removeLast(count - readCount)
        return bytes
    }

    private static func target(ofLink path: String) -> [CChar]? {
        var target = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink(path, &target, target.count)
        return count > 0 ? Array(target.prefix(count)) : nil
    }
}
