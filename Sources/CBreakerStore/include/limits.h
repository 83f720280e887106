#pragma once
// In C: CSQLite's shim reads the limit, too, by atomics.
#include <stdint.h>

// How many bytes a file of this process may have (RLIMIT_FSIZE of setrlimit(2)). The kernel kills a process that writes
// beyond that, by SIGXFSZ. Whether the process ignores this signal is the program's decision, not the library's, and to
// block the signal would cost each write two system calls. So each writer compares with the limit before it writes.
//
// The address of the cached limit, refreshed by `bs_refresh_size_limit`.
const int64_t *bs_size_limit(void);

// Asks the kernel for the limit, caches it, and returns it.
int64_t bs_refresh_size_limit(void);
