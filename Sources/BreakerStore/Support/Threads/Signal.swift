// Only a file that imports the defining module of `timespec` may use its fields. If any file of the target imports
// Synchronization, the compiler takes CBreakerStore or SwiftOverlayShims for that module.
import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
import SwiftOverlayShims
#endif

/// A binary semaphore, whose waits use a clock that no administrator can set.
///
/// Two signals before a wait end one wait. Dispatch's own semaphore waits by the wall clock on Linux: if an
/// administrator sets that clock back by an hour, the wait takes an hour longer. Sendable: the two pointers never
/// change, and the mutex, condition and flag behind them are used as pthreads demand, the flag only under the mutex.
@safe
final class Signal: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isSignalled = false

    init() {
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(self.mutex, nil)
        #if canImport(Darwin)
        unsafe pthread_cond_init(self.condition, nil)
        #else
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(self.condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(self.condition)
        unsafe pthread_mutex_destroy(self.mutex)
        unsafe self.condition.deallocate()
        unsafe self.mutex.deallocate()
    }

    func signal() {
        unsafe pthread_mutex_lock(self.mutex)
        self.isSignalled = true
        unsafe pthread_cond_signal(self.condition)
        unsafe pthread_mutex_unlock(self.mutex)
    }

    /// Blocks until a signal; false if the time is over first.
    func wait(for duration: Duration) -> Bool {
        unsafe pthread_mutex_lock(self.mutex)
        defer { unsafe pthread_mutex_unlock(self.mutex) }
        let deadline = Deadline(after: duration)
        while !self.isSignalled {
            let remaining = deadline.remaining
            guard remaining > .zero else { return false }
            self.waitOnce(remaining)
        }
        self.isSignalled = false
        return true
    }

    private func waitOnce(_ duration: Duration) {
        let nanoseconds = Int64(min(duration, .seconds(3_600)) / .nanoseconds(1))
        var time = timespec()
        #if canImport(Darwin)
        time.tv_sec = Int(nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        _ = unsafe pthread_cond_timedwait_relative_np(self.condition, self.mutex, &time)
        #else
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let end = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) + nanoseconds
        time.tv_sec = Int(end / 1_000_000_000)
        time.tv_nsec = Int(end % 1_000_000_000)
        _ = unsafe pthread_cond_timedwait(self.condition, self.mutex, &time)
        #endif
    }
}
