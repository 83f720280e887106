#pragma once
// In C: Swift has no atomic access to memory that is not its own, and no system calls by number.
#include <stdint.h>

// A bell is a futex: a word of memory that several processes have mapped. One thread sleeps on it; any thread rings it.
static inline uint32_t bs_bell(const uint32_t *bell) { return __atomic_load_n(bell, __ATOMIC_SEQ_CST); }

// Sleeps while the bell has this value, until it is rung or the time is over. Returns 0 then, and also after a signal,
// or if the bell had another value. Else returns an error number: EFAULT if the memory's file has shrunk; any other if
// this system, or a seccomp filter, does not allow a thread to sleep on memory that processes share.
int bs_sleep_on_bell(uint32_t *bell, uint32_t value, int64_t nanoseconds);

// Changes the bell's value, and wakes the thread that sleeps on it. Returns 0 or an error number, as above.
int bs_ring(uint32_t *bell);
