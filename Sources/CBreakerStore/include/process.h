#pragma once
// In C: a fork's child may call nothing but async-signal-safe functions. An atomic of Swift may call into Swift's
// runtime, which is not async-signal-safe.
#include <signal.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { bs_max_descriptors = 1024 };

// The facts that a fork's child needs. The process has one such record, which is never freed.
typedef struct {
    uint64_t forks;
    int64_t forked_at;  // seconds since 1970, of the last fork
    int32_t descriptors[bs_max_descriptors];  // of lock files, + 1; 0 is a free entry
} bs_process;

static inline bs_process *bs_process_new(void) { return (bs_process *)calloc(1, sizeof(bs_process)); }

static inline uint64_t bs_forks(const bs_process *process) {
    return __atomic_load_n(&process->forks, __ATOMIC_RELAXED);
}

static inline int64_t bs_forked_at(const bs_process *process) {
    return __atomic_load_n(&process->forked_at, __ATOMIC_RELAXED);
}

// Runs in the child of a fork; async-signal-safe. The child closes the descriptors of lock files: while the child has
// one open, the parent's locks survive the parent's death.
static inline void bs_forked(bs_process *process) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    __atomic_store_n(&process->forked_at, (int64_t)now.tv_sec, __ATOMIC_RELAXED);
    __atomic_fetch_add(&process->forks, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < bs_max_descriptors; i++) {
        int32_t entry = __atomic_exchange_n(&process->descriptors[i], 0, __ATOMIC_SEQ_CST);
        if (entry > 0) close(entry - 1);
    }
}

// Records a descriptor that a child must close; 0 if no entry is free.
static inline int bs_record_descriptor(bs_process *process, int descriptor) {
    for (int i = 0; i < bs_max_descriptors; i++) {
        int32_t none = 0;
        if (__atomic_compare_exchange_n(&process->descriptors[i], &none, descriptor + 1, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
    }
    return 0;
}
// Removes a recorded descriptor; 0 if it is not recorded. A fork's child has none recorded, because it has closed them.
static inline int bs_drop_descriptor(bs_process *process, int descriptor) {
    for (int i = 0; i < bs_max_descriptors; i++) {
        int32_t entry = descriptor + 1;
        if (__atomic_compare_exchange_n(&process->descriptors[i], &entry, 0, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
    }
    return 0;
}

// Starts a detached thread on which the program's signal handlers never run: it blocks all signals but those of its own
// faults, because a fault whose signal is blocked kills the process (sigprocmask(2)). Returns 0, or an error number.
static inline int bs_start_thread(void *(*main)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, &attributes, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    pthread_attr_destroy(&attributes);
    return code;
}
