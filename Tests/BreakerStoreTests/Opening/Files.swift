import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files as a test makes them.
enum Files {
    /// Runs `body` with a directory of its own, of which no part is a symbolic link.
    static func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let directory = try Self.makeDirectory()
        defer { Self.remove(directory) }
        return try body(directory)
    }

    /// In memory where the system has a place for that.
    static func makeDirectory() throws -> String { try Directory.make("breaker-store") }

    static func remove(_ path: String) { Directory.remove(path) }

    static func read(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe readFile(descriptor, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer[..<count]
        }
    }

    static func write(_ bytes: some Collection<UInt8>, to path: String, mode: mode_t = 0o600) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        let bytes = Array(bytes)
        let count = unsafe writeFile(descriptor, bytes, bytes.count)
        if count != bytes.count { Issue.record("cannot write \(path)") }
        close(descriptor)
    }

    /// The names of what the library has set aside in a directory as broken.
    static func quarantine(in directory: String) -> [String] {
        Directory.names(in: directory).filter { $0.contains(".corrupt-") }
    }

    static func copy(_ source: String, to target: String) {
        guard let bytes = Self.read(source) else { return }
        Self.write(bytes, to: target)
    }
}

// The enum's own functions hide those of C.
private func readFile(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}

private func writeFile(_ descriptor: Int32, _ buffer: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}
