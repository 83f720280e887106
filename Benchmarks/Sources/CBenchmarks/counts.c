// Counts allocations and syncs by standing before the C library's own functions: what the program and all its shared
// libraries call is what the executable defines.
#define _GNU_SOURCE
#include "CBenchmarks.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t bb_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#ifdef __GLIBC__

#include <malloc.h>
#include <sys/syscall.h>

#if __GLIBC_PREREQ(2, 33)
int64_t bb_heap(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}
#else
int64_t bb_heap(void) { return -1; }
#endif

#define INSTEAD __attribute__((used, visibility("default")))

static __thread int64_t allocations;
static __thread int64_t thread_syncs;
static int64_t process_syncs;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

INSTEAD void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

INSTEAD void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

INSTEAD void *realloc(void *old, size_t size) {
    allocations++;
    return __libc_realloc(old, size);
}

INSTEAD void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

INSTEAD void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

INSTEAD int posix_memalign(void **result, size_t alignment, size_t size) {
    allocations++;
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

static void count_sync(void) {
    thread_syncs++;
    __atomic_fetch_add(&process_syncs, 1, __ATOMIC_RELAXED);
}

INSTEAD int fsync(int descriptor) {
    count_sync();
    return (int)syscall(SYS_fsync, descriptor);
}

INSTEAD int fdatasync(int descriptor) {
    count_sync();
    return (int)syscall(SYS_fdatasync, descriptor);
}

int64_t bb_allocations(void) { return allocations; }
int64_t bb_thread_syncs(void) { return thread_syncs; }
int64_t bb_process_syncs(void) { return __atomic_load_n(&process_syncs, __ATOMIC_RELAXED); }

#else

int64_t bb_heap(void) { return -1; }
int64_t bb_allocations(void) { return -1; }
int64_t bb_thread_syncs(void) { return -1; }
int64_t bb_process_syncs(void) { return -1; }

#endif
