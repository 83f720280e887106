#include "bells.h"
#include <errno.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
// glibc declares it only with _GNU_SOURCE.
extern long syscall(long, ...);
#elif defined(__APPLE__)
#include <AvailabilityMacros.h>
#if __has_include(<os/os_sync_wait_on_address.h>)
#include <os/clock.h>
#include <os/os_sync_wait_on_address.h>
#define HAS_WAIT_ON_ADDRESS 1
#endif
#endif

// Weak: a program may also contain another release of the library, which defines the same functions.
#define SHARED __attribute__((weak))

SHARED int bs_sleep_on_bell(uint32_t *bell, uint32_t value, int64_t nanoseconds) {
    if (nanoseconds <= 0) return 0;
#ifdef __linux__
    // futex(2). Not FUTEX_PRIVATE_FLAG: other processes ring. The time is relative, by CLOCK_MONOTONIC.
#if defined(SYS_futex_time64) && !defined(SYS_futex)
    struct { int64_t seconds, nanoseconds; } time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    long result = syscall(SYS_futex_time64, bell, FUTEX_WAIT, value, &time, 0, 0);
#else
    // The fields of this call are as wide as a long, whatever `time_t` is.
    struct { long seconds, nanoseconds; } time = {(long)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    long result = syscall(SYS_futex, bell, FUTEX_WAIT, value, &time, 0, 0);
#endif
    if (result == 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return 0;
    return errno;
#elif defined(HAS_WAIT_ON_ADDRESS)
    if (__builtin_available(macOS 14.4, iOS 17.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *)) {
        int result = os_sync_wait_on_address_with_timeout(
            bell, value, sizeof *bell, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME,
            (uint64_t)nanoseconds);
        if (result >= 0 || errno == EINTR || errno == ETIMEDOUT) return 0;
        return errno;
    }
    return ENOSYS;
#else
    return ENOSYS;
#endif
}

SHARED int bs_ring(uint32_t *bell) {
    __atomic_fetch_add(bell, 1, __ATOMIC_SEQ_CST);
#ifdef __linux__
    return syscall(SYS_futex, bell, FUTEX_WAKE, 1, 0, 0, 0) < 0 ? errno : 0;
#elif defined(HAS_WAIT_ON_ADDRESS)
    if (__builtin_available(macOS 14.4, iOS 17.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *)) {
        int result = os_sync_wake_by_address_any(bell, sizeof *bell, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
        return result < 0 && errno != ENOENT ? errno : 0;
    }
    return ENOSYS;
#else
    return ENOSYS;
#endif
}
