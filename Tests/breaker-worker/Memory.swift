#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How much memory this process has taken, where the kernel tells: zero elsewhere.
enum Memory {
    /// Begins a new peak at what the process has now.
    static func forgetPeak() {
        let descriptor = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        unsafe write(descriptor, "5", 1)
        close(descriptor)
    }

    /// The most since then, in bytes.
    static var peak: Int { self.value(of: "VmHWM:") }
    /// What the process has now, in bytes.
    static var now: Int { self.value(of: "VmRSS:") }

    private static func value(of key: String) -> Int {
        let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        let words = lines.first { $0.hasPrefix(key) }?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) << 10 : 0
    }
}
