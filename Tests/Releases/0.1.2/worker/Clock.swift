import BreakerStore_0_1_2
import CTestSupport
import Foundation

/// The clock in a file that the tests move, as `SharedClock` of the tests has it.
///
/// Sendable: the pointer never changes, and what lies behind it is read by atomic operations alone.
@safe
final class Clock: HostClock, @unchecked Sendable {
    private let values: UnsafeMutablePointer<Int64>

    init?(path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let memory = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe memory != MAP_FAILED
        else { return nil }
        unsafe self.values = memory.bindMemory(to: Int64.self, capacity: 512)
    }

    private subscript(place: Int) -> Int64 { unsafe ts_load(self.values + place) }

    var bootID: String { "shared-boot-\(self[0])" }
    var uptime: Duration { .microseconds(self[1]) }
    var wallTime: Date { Date(timeIntervalSince1970: Double(self[2]) / 1_000_000) }
}
