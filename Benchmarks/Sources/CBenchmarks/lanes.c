// What the end of a healthy call adds: counting.h is the library's own.
#include "CBenchmarks.h"
#include "counting.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { most_lanes = 8 };

typedef struct {
    uint64_t lanes;
    long count;
    int *waiting;
    uint64_t nanoseconds;
} adder;

static void *add(void *argument) {
    adder *own = argument;
    // Nobody begins before all have come.
    __atomic_fetch_sub(own->waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(own->waiting, __ATOMIC_ACQUIRE) > 0) {}
    uint64_t begin = bb_nanoseconds();
    for (long i = 0; i < own->count; i++) bs_count(own->lanes, 0);
    own->nanoseconds = bb_nanoseconds() - begin;
    return 0;
}

double bb_count_in_lanes(int lanes, int threads, long count) {
    void *memory = 0;
    if (lanes > most_lanes || threads > 2 || posix_memalign(&memory, bs_lane_size, bs_lane_size * (most_lanes + 1))) return -1;
    memset(memory, 0, bs_lane_size * (most_lanes + 1));
    uint64_t first = (uint64_t)(uintptr_t)memory;
    if (lanes > 1) ((uint64_t *)memory)[bs_other_lanes] = (first + bs_lane_size) | (uint64_t)(lanes - 1);
    int waiting = threads;
    adder adders[2];
    pthread_t others[2];
    uint64_t slowest = 0;
    for (int i = 0; i < threads; i++) {
        adders[i] = (adder){first, count, &waiting, 0};
        if (pthread_create(&others[i], 0, add, &adders[i])) abort();
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(others[i], 0);
        if (adders[i].nanoseconds > slowest) slowest = adders[i].nanoseconds;
    }
    uint64_t sum = 0;
    for (int lane = 0; lane <= most_lanes; lane++) sum += ((uint64_t *)memory)[lane * bs_lane_size / 8];
    free(memory);
    return sum == (uint64_t)threads * (uint64_t)count ? (double)slowest / (double)count : -1;
}
