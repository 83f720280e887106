import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Byte 0 of a store's lock file, held by a process that opens or repairs the store for long: nobody copies the log.
struct ForeignSetupLock {
    private let descriptor: Int32

    /// Returns when it is held.
    init(of store: String) throws {
        self.descriptor = unsafe open(store + "-lock", O_RDWR | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw SystemError("open the lock file") }
        while ts_lock(self.descriptor, 0, 1) != 0 { usleep(1_000) }
    }

    func letGo() { close(self.descriptor) }
}
