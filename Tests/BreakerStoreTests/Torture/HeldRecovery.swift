import CTestSupport

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A torn header of the wal-index, and the locks under which another process recovers it, until they are let go.
///
/// Sendable: a test uses it from one thread at a time, and lets go from another.
@safe
final class HeldRecovery: @unchecked Sendable {
    /// The bytes of the locks "write" and "recover" (https://sqlite.org/walformat.html#wal_locks).
    private static let locks: [ByteIndex] = [120, 122]
    private let descriptor: Int32
    private let store: CircuitStore

    init(_ store: CircuitStore) throws {
        self.store = store
        self.descriptor = unsafe open(store.backend.file.index, O_RDWR | O_CLOEXEC)
        for lock in Self.locks {
            while !ByteLock.lock(self.descriptor, at: lock) { usleep(1_000) }
        }
        guard let page = unsafe store.header?.page else { return }
        let words = unsafe UnsafeMutableRawPointer(mutating: page).bindMemory(to: Int64.self, capacity: 12)
        unsafe ts_store(words, 0)
    }

    func letGo() {
        for lock in Self.locks { ByteLock.unlock(self.descriptor, at: lock) }
    }

    /// Closes the store, too: to close the file drops this process's locks on it.
    func clear() {
        self.letGo()
        self.store.close()
        close(self.descriptor)
    }
}
