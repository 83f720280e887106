#if PostgreSQL
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes down when this process did not run for a while though it wanted to, or when the disk kept it waiting.
///
/// A link that a busy machine halts for half of the guard is as good as one that somebody stops: its host probes by
/// itself, as documented. So is a link that waits for a sync of its host's file.
enum FleetLateness {
    private static let longest: Int64 = 150_000

    /// Watches until the process ends, or nobody wants to know any more.
    ///
    /// - Parameter syncs: whether to sync a file of its own each time: one process of a round does.
    static func watch(_ path: String, syncs: Bool = false, while isWanted: @escaping @Sendable () -> Bool = { true }) {
        let log = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { return }
        let synced = syncs ? unsafe open(path + "-synced", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) : -1
        Thread.detachNewThread {
            var last = FleetPlace.now
            while isWanted() {
                Thread.sleep(forTimeInterval: syncs ? 0.05 : 0.02)
                if synced >= 0 {
                    _ = unsafe pwrite(synced, [UInt8(truncatingIfNeeded: last)], 1, 0)
                    fsync(synced)
                }
                let now = FleetPlace.now
                if now - last > self.longest {
                    let bytes = Array("\(last) \(now)\n".utf8)
                    _ = unsafe write(log, bytes, bytes.count)
                }
                last = now
            }
            close(log)
            if synced >= 0 { close(synced) }
        }
    }

    static func read(_ path: String) -> [Range<Int64>] {
        let text = String(decoding: FileBytes.read(path) ?? [], as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            return numbers.count == 2 && numbers[0] < numbers[1] ? numbers[0]..<numbers[1] : nil
        }
    }
}
#endif
