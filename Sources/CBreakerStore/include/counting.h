#pragma once
// In C: Swift has no atomic access to memory that is not its own, and no way to ask for the CPU of a thread.
#include <stddef.h>
#include <stdint.h>

// MARK: - Words of 64 bits that other threads and processes change

static inline uint64_t bs_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void bs_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline void bs_add(uint64_t *word, uint64_t count) { __atomic_fetch_add(word, count, __ATOMIC_SEQ_CST); }
static inline uint64_t bs_add_one(uint64_t *word) { return __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST); }
static inline int bs_replace(uint64_t *word, uint64_t known, uint64_t value) {
    return __atomic_compare_exchange_n(word, &known, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
// Returns the value of a word and leaves zero. A word that is zero, as most are most of the time, is not written.
static inline uint64_t bs_drain(uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED) ? __atomic_exchange_n(word, 0, __ATOMIC_RELAXED) : 0;
}
static inline void bs_count_relaxed(uint64_t *word, uint64_t count) {
    __atomic_fetch_add(word, count, __ATOMIC_RELAXED);
}

// A checksum of four words, never 0, so that words that were never written do not pass. Two sets of words have the same
// checksum only by chance. The constants are arbitrary odd numbers.
static inline uint64_t bs_check(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t sum = (a + 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    sum ^= ((b << 17 | b >> 47) + 0xBF58476D1CE4E5B9u) * 0xA24BAED4963EE407u;
    sum ^= ((c << 31 | c >> 33) + 0x94D049BB133111EBu) * 0x9FB21C651E98DF25u;
    sum ^= ((d << 47 | d >> 17) + 0x2545F4914F6CDD1Du) * 0xC2B2AE3D27D4EB4Fu;
    sum = (sum ^ sum >> 29) * 0xE7037ED1A0B428DBu;
    return (sum ^ sum >> 32) | 1;
}

// MARK: - The CPU

#ifdef __linux__
// glibc 2.35 and newer show where each thread keeps the number of its CPU, which the kernel keeps up to date (rseq(2)):
// 0.2 ns, where sched_getcpu takes 2.7. Weak: other C libraries have no such symbols.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
extern int sched_getcpu(void);
#endif

// The number of the CPU that this thread runs on, or 0 if there is no cheap way to get it. The thread may run on
// another CPU by the time the caller uses the number.
static inline uint64_t bs_cpu(void) {
#ifdef __linux__
    if (&__rseq_offset && __rseq_size) {
        const char *thread = 0;
#if defined(__x86_64__)
        __asm__("movq %%fs:0, %0" : "=r"(thread));
#elif defined(__aarch64__)
        __asm__("mrs %0, tpidr_el0" : "=r"(thread));
#endif
        if (thread) {
            // `cpu_id`, the second field of `struct rseq`. It is below zero in a thread that is not registered.
            int32_t cpu = __atomic_load_n((const int32_t *)(thread + __rseq_offset) + 1, __ATOMIC_RELAXED);
            if (cpu >= 0) return (uint64_t)cpu;
        }
    }
    int cpu = sched_getcpu();
    return cpu < 0 ? 0 : (uint64_t)cpu;
#else
    return 0;
#endif
}

// MARK: - Lanes

enum { bs_lane_size = 64, bs_wipe_on_fork = 18 /* MADV_WIPEONFORK, which older headers lack */ };

// The word of a circuit's first lane that is no counter: it has the address of the other lanes.
enum { bs_other_lanes = 7 };

// Adds one to a word of a striped counter. `first` is the address of the circuit's first lane. If the circuit has lanes
// for the CPUs, a word of the first lane has their address and, in the last six bits, their number less one: lanes
// begin at multiples of 64 bytes. The number of these lanes is a power of two.
static inline void bs_count(uint64_t first, int word) {
    uint64_t lane = first;
    uint64_t others = __atomic_load_n((const uint64_t *)(uintptr_t)first + bs_other_lanes, __ATOMIC_ACQUIRE);
    if (others) {
        uint64_t mask = others & (bs_lane_size - 1);
        lane = others - mask + (bs_cpu() & mask) * bs_lane_size;
    }
    __atomic_fetch_add((uint64_t *)(uintptr_t)lane + word, 1, __ATOMIC_RELAXED);
}
