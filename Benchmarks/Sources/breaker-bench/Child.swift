import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// This program again, in a process of its own.
enum Child {
    /// What a child is started for; its first argument.
    enum Role: String {
        case healthyCalls = "child-healthy-calls"
        case healthyForms = "child-healthy-forms"
        case refusedCalls = "child-refused-calls"
        case countedFailures = "child-counted-failures"
        case idling = "child-idling"
        case systemCall = "child-system-call"
        case opening = "child-opening"
        case openingTraced = "child-opening-traced"
        case connecting = "child-connecting"
        case connectingTraced = "child-connecting-traced"
        case staying = "child-staying"
        case failing = "child-failing"
        case failingInC = "child-failing-in-c"
        case failingPaced = "child-failing-paced"
        case failingTraced = "child-failing-traced"
        case trippingTraced = "child-tripping-traced"
        case sharing = "child-sharing"
        case exactShare = "child-exact-share"
    }

    struct Result {
        var code: Int32
        var output: String
    }

    static func run(_ role: Role, _ path: String = "") throws -> Result {
        var output = [CChar](repeating: 0, count: 4096)
        let code = unsafe bb_run(try Program.path(), role.rawValue, path, &output, output.count)
        let bytes = output.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return Result(code: code, output: String(decoding: bytes, as: UTF8.self))
    }

    /// Runs that many processes in that role, which begin at once; returns what they print after their first line.
    static func crowd(_ role: Role, _ path: String, _ count: Int) throws -> String {
        var output = [CChar](repeating: 0, count: 1 << 20)
        guard unsafe bb_crowd(try Program.path(), role.rawValue, path, Int32(count), &output, output.count) == 0 else {
            throw BenchmarkError("a process of a crowd failed")
        }
        return String(decoding: output.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// How many system calls a process in that role makes between two marks, and how many of them name a file by its
    /// path; nil where they can't be counted.
    static func systemCallsBetweenMarks(_ role: Role, _ path: String) throws -> (all: Int, ofPaths: Int)? {
        var (count, paths) = (Int64(0), Int64(0))
        let code = unsafe bb_count_system_calls(try Program.path(), role.rawValue, path, &count, &paths)
        switch code {
        case 0: return (Int(count), Int(paths))
        case Self.unguarded: return nil
        default: throw BenchmarkError("\(role.rawValue) ended with \(code)")
        }
    }

    /// Runs `body` while a process in that role is alive.
    static func during<Value>(_ role: Role, _ path: String, _ body: () async throws -> Value) async throws -> Value {
        var input: Int32 = -1
        let process = unsafe bb_start(try Program.path(), role.rawValue, path, &input)
        guard process >= 0 else { throw BenchmarkError("no child can be started") }
        defer { bb_stop(process, input) }
        return try await body()
    }
}

extension Child {
    /// Makes `body` run in a child whose thread may make no system call; nil if there is no way to forbid them.
    ///
    /// Called in the child.
    static func withoutSystemCalls(_ body: () async throws -> Void) async throws {
        // What comes before is code that is not yet linked, and the first answer.
        try await body()
        guard bb_forbid_system_calls() == 0 else { bb_exit_now(Self.unguarded) }
        try await body()
        bb_exit_now(0)
    }

    static let unguarded: Int32 = 87

    /// How many system calls a child was seen to make: at most the first; nil if that can't be seen.
    static func systemCalls(_ role: Role, _ path: String = "") throws -> Int? {
        let result = try Self.run(role, path)
        switch result.code {
        case 0: return 0
        case Int32(bb_syscall_made): return 1
        case Self.unguarded: return nil
        default: throw BenchmarkError("\(role.rawValue) ended with \(result.code): \(result.output)")
        }
    }
}

extension Child {
    /// Writes the plan that the processes of a crowd read.
    static func write(plan: String, at path: String) throws {
        let descriptor = unsafe open(path + "-plan", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(plan.utf8)
        guard descriptor >= 0, unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw BenchmarkError("can't write \(path)-plan")
        }
    }

    /// The words of the plan; called in the child.
    static func plan(at path: String) -> [Substring] {
        var bytes = [UInt8](repeating: 0, count: 200)
        let descriptor = unsafe open(path + "-plan", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    }
}
