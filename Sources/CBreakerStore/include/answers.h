#pragma once
// In C: cached decisions are compared with memory that SQLite maps and other processes write, and Swift has no atomic
// access to memory that is not its own.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __APPLE__
#include <mach/mach.h>
#include <mach/vm_map.h>
#endif
#include "process.h"

// MARK: - The header of the wal-index

enum { bs_words = 12 };
typedef struct { uint64_t words[bs_words]; } bs_tag;

static inline bs_tag bs_read_tag(const uint64_t *page) {
    bs_tag tag;
    for (int i = 0; i < bs_words; i++) tag.words[i] = __atomic_load_n(&page[i], __ATOMIC_ACQUIRE);
    // All data that is read from the file from here on is at least as new as the tag.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return tag;
}

// Whether this header, while it does not change, proves that the file has not changed: both copies are alike, of the
// known version and initialised, and the log has been written to.
static inline int bs_tag_counts(const bs_tag *tag) {
    uint32_t field[12];
    memcpy(field, tag->words, sizeof field);
    return memcmp(tag->words, tag->words + 6, 48) == 0 && field[0] == 3007000
        && ((const uint8_t *)field)[12] == 1 && (field[8] != 0 || field[9] != 0);
}

// The frames in the log, and how many of them are copied into the database (the word behind both copies of the header).
static inline uint32_t bs_frames(const uint64_t *page) {
    return __atomic_load_n((const uint32_t *)page + 4, __ATOMIC_ACQUIRE);
}
static inline uint32_t bs_backfilled_frames(const uint64_t *page) {
    return __atomic_load_n((const uint32_t *)page + 24, __ATOMIC_ACQUIRE);
}

// Maps the same page a second time, so that it outlives the connection (tested: a read of the connection's own mapping
// after sqlite3_close is a SIGSEGV). Null if the system can't do that.
enum { bs_header_size = 32768 };
#ifdef __APPLE__
// Not mach_vm_remap: only macOS lets a program include its header.
static inline const uint64_t *bs_map_again(const uint64_t *page) {
    vm_address_t copy = 0;
    vm_prot_t protection, max_protection;
    if (vm_remap(mach_task_self(), &copy, bs_header_size, 0, VM_FLAGS_ANYWHERE, mach_task_self(),
                 (vm_address_t)page, 0, &protection, &max_protection, VM_INHERIT_SHARE) != KERN_SUCCESS) return 0;
    return (const uint64_t *)copy;
}
#else
// glibc declares mremap only with _GNU_SOURCE. An old size of 0 maps shared pages a second time (mremap(2)).
extern void *mremap(void *, size_t, size_t, int, ...);
static inline const uint64_t *bs_map_again(const uint64_t *page) {
    void *copy = mremap((void *)page, 0, bs_header_size, 1 /* MREMAP_MAYMOVE */);
    return copy == MAP_FAILED ? 0 : (const uint64_t *)copy;
}
#endif
// Replaces the mapped file by zeros, for threads that may still be reading. mmap does so in one step: the address is
// never unmapped.
static inline void bs_blank(const uint64_t *page) {
    mmap((void *)page, bs_header_size, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
}
static inline void bs_unmap(const uint64_t *page) { munmap((void *)page, bs_header_size); }

// MARK: - The cached decision

// The header with which a store's cached decisions are compared. `page` is null while the gate is shut, and no cached
// decision is valid. A mapping that a gate was opened to stays mapped until the gate is freed.
typedef struct {
    const uint64_t *page;
    uint64_t generation;  // rises with each opening, so that no decision outlives its file
    uint64_t forks;
    const bs_process *process;
} bs_gate;

// A seqlock of relaxed atomics: a decision, the header under which it was read, and a sequence by which a reader
// detects a write in between. In a valid header both copies are alike: the cache keeps one copy, because there may be
// very many caches.
typedef struct {
    uint64_t sequence, verdict, epoch, until, generation;
    uint64_t tag[bs_words / 2];
} bs_decision_cache;

typedef struct { uint64_t verdict, epoch, until; } bs_decision;  // verdict 0: no decision

static inline bs_gate *bs_gate_new(const bs_process *process) {
    void *gate = 0;
    if (posix_memalign(&gate, 128, sizeof(bs_gate))) abort();
    memset(gate, 0, sizeof(bs_gate));
    ((bs_gate *)gate)->process = process;
    ((bs_gate *)gate)->forks = bs_forks(process);
    return (bs_gate *)gate;
}

static inline bs_decision_cache *bs_decision_cache_new(void) {
    void *cache = 0;
    if (posix_memalign(&cache, 64, sizeof(bs_decision_cache))) abort();
    memset(cache, 0, sizeof(bs_decision_cache));
    return (bs_decision_cache *)cache;
}

static inline int bs_gate_forked(const bs_gate *gate) { return gate->forks != bs_forks(gate->process); }

static inline const uint64_t *bs_gate_page(const bs_gate *gate) {
    return __atomic_load_n(&gate->page, __ATOMIC_ACQUIRE);
}
static inline uint64_t bs_gate_generation(const bs_gate *gate) {
    return __atomic_load_n(&gate->generation, __ATOMIC_ACQUIRE);
}

// Opens the gate to a mapping, or shuts it (null).
static inline void bs_gate_set(bs_gate *gate, const uint64_t *page, uint64_t generation) {
    __atomic_store_n(&gate->page, (const uint64_t *)0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->generation, generation, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->page, page, __ATOMIC_SEQ_CST);
}

// The cached decision, if the header is still the one under which it was read; else verdict 0.
static inline bs_decision bs_read_decision(const bs_decision_cache *cache, const bs_gate *gate) {
    bs_decision none = {0, 0, 0};
    const uint64_t *page = __atomic_load_n(&gate->page, __ATOMIC_ACQUIRE);
    if (!page || gate->forks != __atomic_load_n(&gate->process->forks, __ATOMIC_RELAXED)) return none;
    uint64_t sequence = __atomic_load_n(&cache->sequence, __ATOMIC_ACQUIRE);
    if (sequence & 1) return none;
    uint64_t differs = __atomic_load_n(&gate->generation, __ATOMIC_ACQUIRE)
        ^ __atomic_load_n(&cache->generation, __ATOMIC_RELAXED);
    for (int i = 0; i < bs_words / 2; i++) {
        uint64_t word = __atomic_load_n(&cache->tag[i], __ATOMIC_RELAXED);
        differs |= __atomic_load_n(&page[i], __ATOMIC_ACQUIRE) ^ word;
        differs |= __atomic_load_n(&page[i + bs_words / 2], __ATOMIC_ACQUIRE) ^ word;
    }
    bs_decision decision = {
        __atomic_load_n(&cache->verdict, __ATOMIC_RELAXED),
        __atomic_load_n(&cache->epoch, __ATOMIC_RELAXED),
        __atomic_load_n(&cache->until, __ATOMIC_RELAXED),
    };
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (differs | (__atomic_load_n(&cache->sequence, __ATOMIC_RELAXED) ^ sequence)) return none;
    return decision;
}

// One thread at a time publishes; a second one at the same time drops its decision. The tag must be valid
// (`bs_tag_counts`).
static inline void bs_publish_decision(bs_decision_cache *cache, const bs_tag *tag, uint64_t generation,
                                       bs_decision decision) {
    uint64_t sequence = __atomic_load_n(&cache->sequence, __ATOMIC_RELAXED);
    if (sequence & 1 || !__atomic_compare_exchange_n(&cache->sequence, &sequence, sequence + 1, 0,
                                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (int i = 0; i < bs_words / 2; i++) __atomic_store_n(&cache->tag[i], tag->words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&cache->generation, generation, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->verdict, decision.verdict, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->epoch, decision.epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->until, decision.until, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->sequence, sequence + 2, __ATOMIC_RELEASE);
}
