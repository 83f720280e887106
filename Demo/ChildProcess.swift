#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that this one started; what it says is kept line by line.
final class ChildProcess {
    let name: String
    let pid: pid_t
    let output: Descriptor
    /// Whether it has closed its output: it has ended, or is about to.
    private(set) var isSilent = false
    /// Whether the demo has killed it.
    private(set) var isKilled = false
    private(set) var lines: [String] = []

    private let input: Descriptor
    private var isInputClosed = false
    private var unfinished: [UInt8] = []
    private var status: Int32?

    /// - Parameters:
    ///   - name: what people call it.
    ///   - program: its path, or its name if it is found by PATH.
    ///   - arguments: all but its own name.
    init(name: String, program: String, arguments: [String]) throws {
        self.name = name
        let toChild = try Descriptor.newPipe()
        let fromChild = try Descriptor.newPipe()
        self.pid = try Self.spawn([program] + arguments, input: toChild.readEnd, output: fromChild.writeEnd)
        toChild.readEnd.shut()
        fromChild.writeEnd.shut()
        self.input = toChild.writeEnd
        self.output = fromChild.readEnd
    }

    /// The words that start a program which does not see that the demo was killed: the signal ends it then.
    static func leash(signal: String) -> [String] {
        #if os(Linux)
        ["setpriv", "--pdeathsig", signal]
        #else
        []
        #endif
    }

    /// Something has come from its output, or its output has ended; returns the lines that are new.
    @discardableResult
    func hear() -> ArraySlice<String> {
        let known = self.lines.count
        let bytes = self.output.receive()
        self.isSilent = bytes.isEmpty
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                self.unfinished.append(byte)
                continue
            }
            self.lines.append(String(decoding: self.unfinished, as: UTF8.self))
            self.unfinished.removeAll()
        }
        return self.lines[known...]
    }

    /// Closes its input, by which a worker knows that it must end.
    func closeInput() {
        if !self.isInputClosed { self.input.shut() }
        self.isInputClosed = true
    }

    /// Kills it with SIGKILL.
    func die() {
        self.isKilled = true
        self.signal(SIGKILL)
    }

    /// Sends it a signal, unless it has been waited for: its number may be another's by now.
    func signal(_ number: Int32) {
        if self.status == nil { _ = kill(self.pid, number) }
    }

    /// Waits until it is gone; returns its exit code, or the signal that ended it, below zero.
    @discardableResult
    func end() -> Int32 {
        if let status = self.status { return Self.code(status) }
        var status: Int32 = 0
        while unsafe waitpid(self.pid, &status, 0) < 0 && errno == EINTR {}
        self.status = status
        self.closeInput()
        self.output.shut()
        return Self.code(status)
    }

    /// The macros WIFSIGNALED, WTERMSIG and WEXITSTATUS, which Swift does not see.
    private static func code(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    private static func spawn(_ words: [String], input: Descriptor, output: Descriptor) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
        // In a process group of its own: Ctrl-C reaches the demo, which ends its children itself.
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        unsafe posix_spawnattr_setpgroup(&attributes, 0)

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for place in unsafe arguments.indices { unsafe free(arguments[place]) } }
        var pid: pid_t = 0
        let code = unsafe posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw DemoError.system("start \(words[0])", code: code) }
        return pid
    }
}
