#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What this process takes.
enum OwnProcess {
    /// The time that it has computed, of all its threads.
    static var computed: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The lines of /proc/self/status that are about memory, in KiB; none where there is no such file.
    static var memory: [String: Int] {
        guard let file = unsafe fopen("/proc/self/status", "r") else { return [:] }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        let pairs = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: { ": \t".contains($0) })
            return words.count == 3 ? Int(words[1]).map { (String(words[0]), $0) } : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
#endif
