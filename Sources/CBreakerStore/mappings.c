#include "mappings.h"
#include "limits.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Weak: a program may also contain another release of the library, which defines the same functions.
#define SHARED __attribute__((weak))
#ifdef __linux__
// The first use of dynamic thread-local memory may allocate it, which a handler must not do.
#define THREAD_LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL static _Thread_local
#endif

// MARK: - The table of mappings

enum { max_mappings = 1024, unit = 4096, count_bits = 28 };

// `range` is the number of the first unit, then the count of units. Both are in one word, so that the handler never
// sees the start of one range with the size of another. 0 is a free entry, 1 an entry that is being filled.
typedef struct {
    uint64_t range;
    uint32_t *lost;
} mapping;
static mapping mappings[max_mappings];

// Replaces a mapped file by zeros. mmap does so in one step: the memory is never unmapped. Linux's mmap is a bare
// system call, and so is safe in handlers.
static int blank(const mapping *entry, uint64_t range) {
    uint32_t *lost = __atomic_load_n(&entry->lost, __ATOMIC_ACQUIRE);
    // First: a thread that reads the zeros must be able to see that the mapping is lost.
    __atomic_store_n(lost, 1, __ATOMIC_SEQ_CST);
    void *start = (void *)(uintptr_t)((range >> count_bits) * unit);
    size_t size = (size_t)(range & ((1ull << count_bits) - 1)) * unit;
    return mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) != MAP_FAILED;
}

// The faulting thread's mapping is in use, so its entry can't be reused during this search.
static int blank_at(const void *address) {
    uint64_t number = (uint64_t)(uintptr_t)address / unit;
    for (int i = 0; i < max_mappings; i++) {
        uint64_t range = __atomic_load_n(&mappings[i].range, __ATOMIC_ACQUIRE);
        if (range <= 1 || number - (range >> count_bits) >= (range & ((1ull << count_bits) - 1))) continue;
        return blank(&mappings[i], range);
    }
    return 0;
}

static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

// Runs in a child of fork. A thread of the parent may have held the mutex, and does not exist here: so the mutex is
// made new. The mapped files are left to the parent.
static void reset_in_child(void) {
    installing = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < max_mappings; i++) {
        uint64_t range = __atomic_load_n(&mappings[i].range, __ATOMIC_ACQUIRE);
        if (range > 1) blank(&mappings[i], range);
        // A thread of the parent was about to fill the entry.
        if (range == 1) __atomic_store_n(&mappings[i].range, 0, __ATOMIC_RELEASE);
    }
}

// MARK: - The handler

// The handlers that were installed before ours, oldest first. No entry is ever overwritten: a handler may be using it.
enum { max_earlier = 8 };
static struct sigaction earlier[max_earlier];
static int earlier_count;

// The signal that this thread is passing on now. A handler that was installed after ours may call ours again for the
// same signal, and the signal must then go to the handler before.
typedef struct {
    const void *info;
    const char *frame;
    int level;
} handing;
THREAD_LOCAL handing current;

static void on_bus_error(int number, siginfo_t *info, void *context);

static void restore_default(int number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, 0);
}

static int is_fault(const siginfo_t *info) {
#ifdef __APPLE__
    return info->si_code != SI_USER;
#else
    // sigaction(2): codes of signals that a process sent are not above zero. Those have no address.
    return info->si_code > 0;
#endif
}

__attribute__((noinline)) static void hand_on(int number, siginfo_t *info, void *context) {
    const char *frame = __builtin_frame_address(0);
    // Same `info` and a deeper frame: an older handler has called this handler back, so the signal goes one further
    // down the list. A stale `current` (after longjmp) does no harm: a new signal's frame is not deeper.
    int level = current.info == info && frame < current.frame ? current.level + 1 : 0;
    int index = __atomic_load_n(&earlier_count, __ATOMIC_ACQUIRE) - 1 - level;
    const struct sigaction *before = index < 0 ? 0 : &earlier[index];
    int takes_info = before && before->sa_flags & SA_SIGINFO;
    if (!takes_info && (!before || before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)) {
        // The kernel never ignores a fault, even if SIG_IGN is set: it kills.
        if (before && before->sa_handler == SIG_IGN && !is_fault(info)) return;
        restore_default(number);
        // The access is repeated when this handler returns. A signal that a process sent does not come again by itself.
        if (!is_fault(info)) raise(number);
        return;
    }
    handing outer = current;
    current = (handing){info, frame, level};
    if (takes_info) before->sa_sigaction(number, info, context);
    else before->sa_handler(number);
    current = outer;
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    int error = errno;
    if (!is_fault(info) || !blank_at(info->si_addr)) hand_on(number, info, context);
    errno = error;
}

static int is_ours(const struct sigaction *action) {
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_bus_error;
}

static int remember(const struct sigaction *action) {
    int count = earlier_count;
    if (count == max_earlier) return 0;
    earlier[count] = *action;
    __atomic_store_n(&earlier_count, count + 1, __ATOMIC_RELEASE);
    return 1;
}

// Installs our handler over the current one, unless that is ours. The current one is remembered first, because a signal
// may arrive in between.
static int install(void) {
    struct sigaction installed, ours, replaced;
    if (sigaction(SIGBUS, 0, &installed)) return 0;
    if (is_ours(&installed)) return 1;
    if (!remember(&installed)) return 0;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGBUS, &ours, &replaced)) return 0;
    int is_other = memcmp(&replaced.sa_sigaction, &installed.sa_sigaction, sizeof installed.sa_sigaction) != 0;
    if (is_other && !is_ours(&replaced)) {
        remember(&replaced);
    }
    return 1;
}

static void install_child_handler(void) { pthread_atfork(0, 0, reset_in_child); }

SHARED int bs_guard_mapping(void *start, size_t size, uint32_t *lost) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t first = (uint64_t)(uintptr_t)start / unit, count = (size + unit - 1) / unit;
    if (first >> (64 - count_bits) || !count || count >> count_bits) return -1;
    pthread_once(&once, install_child_handler);
    pthread_mutex_lock(&installing);
    int is_installed = install();
    pthread_mutex_unlock(&installing);
    for (int i = 0; is_installed && i < max_mappings; i++) {
        uint64_t none = 0;
        if (!__atomic_compare_exchange_n(&mappings[i].range, &none, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
        __atomic_store_n(&mappings[i].lost, lost, __ATOMIC_RELEASE);
        __atomic_store_n(&mappings[i].range, first << count_bits | count, __ATOMIC_SEQ_CST);
        return i;
    }
    return -1;
}

SHARED void bs_unguard_mapping(int guard) { __atomic_store_n(&mappings[guard].range, 0, __ATOMIC_SEQ_CST); }

SHARED int bs_is_guard_installed(void) {
    struct sigaction installed;
    return sigaction(SIGBUS, 0, &installed) == 0 && is_ours(&installed);
}

// MARK: - Threads that block the signal

// Whether this thread blocks SIGBUS: 0 unknown yet, 1 no, 2 yes. Read once: a program that blocks signals does so when
// the thread starts, and each read is a system call.
THREAD_LOCAL char blocks;

SHARED int bs_begin_touching(void) {
    if (blocks == 1) return 0;
    sigset_t bus, before;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, &before);
    blocks = sigismember(&before, SIGBUS) ? 2 : 1;
    return blocks == 2;
}

SHARED void bs_end_touching(int was_blocked) {
    if (!was_blocked) return;
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_BLOCK, &bus, 0);
}

// MARK: - Room on the disk

SHARED int bs_allocate(int descriptor, int64_t offset, int64_t size) {
    if (bs_refresh_size_limit() < offset + size) return EFBIG;
#ifdef __APPLE__
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, size, 0};
    if (fcntl(descriptor, F_PREALLOCATE, &store) == -1) return errno;
    return ftruncate(descriptor, offset + size) ? errno : 0;
#else
    int code;
    do code = posix_fallocate(descriptor, offset, size);
    while (code == EINTR);
    return code;
#endif
}
