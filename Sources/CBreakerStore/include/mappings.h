#pragma once
// In C: a signal's handler and a fork's child may call nothing but async-signal-safe functions, and Swift has no
// thread-local variables.
#include <stddef.h>
#include <stdint.h>

// A write to a mapped file kills the process by SIGBUS if the file was truncated, or if the file system lacks the room
// that it had promised. From `bs_guard_mapping` on, such a write to this memory replaces the mapped file by zeros, sets
// `lost` and continues. A child of `fork` gets the zeros at once. The zeros are private to this process.
//
// Returns the number of the guard, for `bs_unguard_mapping`, or -1: no guard is free, the address is out of range, or
// SIGBUS can't be caught. `lost` must live as long as the guard.
int bs_guard_mapping(void *start, size_t size, uint32_t *lost);
// Must be called before the memory is unmapped.
void bs_unguard_mapping(int guard);

// Unblocks SIGBUS for this thread; returns 1 if the signal was blocked. Does not nest. A thread that blocks SIGBUS is
// killed by it. The caller passes the result to `bs_end_touching` once it has touched the memory.
int bs_begin_touching(void);
void bs_end_touching(int was_blocked);

// Whether our handler is in place now. For tests.
int bs_is_guard_installed(void);

static inline uint32_t bs_is_lost(const uint32_t *lost) { return __atomic_load_n(lost, __ATOMIC_ACQUIRE); }
static inline void bs_lose(uint32_t *lost) { __atomic_store_n(lost, 1, __ATOMIC_RELEASE); }

// Reserves blocks on the disk for bytes of a file, and extends the file to their end. Returns 0 or an error number,
// which is EFBIG beyond the limit of the process (limits.h). Contents stay.
int bs_allocate(int descriptor, int64_t offset, int64_t size);
