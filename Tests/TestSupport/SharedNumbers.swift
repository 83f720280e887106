import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Numbers in a file that all processes of a test map; 0 until somebody writes one.
///
/// Sendable: the pointer never changes, and what lies behind it is touched by atomic operations alone.
@safe
package final class SharedNumbers: @unchecked Sendable {
    private let count: Int
    private let values: UnsafeMutablePointer<Int64>

    /// Maps the file; creates it if there is none.
    package init(path: String, count: Int = 512) throws {
        let size = 8 * count
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(size)) == 0 else { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        guard let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe memory != MAP_FAILED
        else { throw SystemError("map \(path)") }
        self.count = count
        unsafe self.values = memory.bindMemory(to: Int64.self, capacity: count)
    }

    deinit { unsafe munmap(self.values, 8 * self.count) }

    package subscript(place: Int) -> Int64 {
        get { unsafe ts_load(self.values + self.checked(place)) }
        set { unsafe ts_store(self.values + self.checked(place), newValue) }
    }

    /// Adds in one step; returns the sum.
    @discardableResult
    package func add(_ number: Int64, at place: Int) -> Int64 {
        unsafe ts_add(self.values + self.checked(place), number)
    }

    /// Makes a number at least as large as another in one step.
    package func raise(_ place: Int, to number: Int64) { unsafe ts_raise(self.values + self.checked(place), number) }

    private func checked(_ place: Int) -> Int {
        precondition((0..<self.count).contains(place))
        return place
    }
}
