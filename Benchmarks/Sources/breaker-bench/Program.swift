import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The running program and its directories.
enum Program {
    static func path() throws -> String {
        #if os(Linux)
        let given = "/proc/self/exe"
        #else
        let given = CommandLine.arguments[0]
        #endif
        guard let resolved = unsafe realpath(given, nil) else { throw BenchmarkError("this program can't be found") }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Runs `body` with a directory that is gone afterwards.
    static func withDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/breaker-bench-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw BenchmarkError("no directory can be made in \(parent)") }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { Self.removeDirectory(path) }
        return try await body(path)
    }

    private static func removeDirectory(_ path: String) {
        guard let directory = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            unsafe unlink("\(path)/\(name)")
        }
        unsafe closedir(directory)
        unsafe rmdir(path)
    }
}

extension Program {
    static func flush() { fflush(nil) }

    /// Writes a line to standard error.
    static func complain(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
