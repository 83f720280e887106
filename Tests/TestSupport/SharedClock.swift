import BreakerStore
import CTestSupport
package import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A clock in a file: a test moves it, and all processes that map the file read it.
///
/// Sendable: the pointer never changes, and what lies behind it is touched by atomic operations alone.
@safe
package final class SharedClock: HostClock, @unchecked Sendable {
    private enum Field: Int {
        case boot, uptime, wall
    }

    private static let size = 4_096
    package let path: String
    private let values: UnsafeMutablePointer<Int64>

    /// Maps the file; creates it, standing 1,000 s after its first boot, at 2026-01-01T00:00:00Z.
    package init(path: String) throws {
        self.path = path
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(Self.size)) == 0 else { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        guard let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe memory != MAP_FAILED
        else { throw SystemError("map \(path)") }
        unsafe self.values = memory.bindMemory(to: Int64.self, capacity: Self.size / 8)
        if self[.boot] == 0 {
            self[.uptime] = 1_000_000_000
            self[.wall] = 1_767_225_600_000_000
            self[.boot] = 1
        }
    }

    deinit { unsafe munmap(self.values, Self.size) }

    package var bootID: String { "shared-boot-\(self[.boot])" }

    package var uptime: Duration { .microseconds(self[.uptime]) }

    package var wallTime: Date { Date(timeIntervalSince1970: Double(self[.wall]) / 1_000_000) }

    /// Lets time pass for all processes: uptime and wall time move on together.
    package func advance(by duration: Duration) {
        self[.uptime] += duration.wholeMicroseconds
        self[.wall] += duration.wholeMicroseconds
    }

    /// Sets the wall time on, or back when negative; uptime stays.
    package func stepWallTime(by duration: Duration) { self[.wall] += duration.wholeMicroseconds }

    /// Boots the host anew, which no process may live to see.
    package func reboot(downFor duration: Duration) {
        self[.boot] += 1
        self[.uptime] = 0
        self[.wall] += duration.wholeMicroseconds
    }

    private subscript(field: Field) -> Int64 {
        get { unsafe ts_load(self.values + field.rawValue) }
        set { unsafe ts_store(self.values + field.rawValue, newValue) }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        self.components.seconds * 1_000_000 + self.components.attoseconds / 1_000_000_000_000
    }
}
