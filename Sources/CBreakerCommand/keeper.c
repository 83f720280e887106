// The keeper: keeps a probe's slot between 'admit' and 'finish'; see keeper.h.
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "include/keeper.h"
#include "pipes.h"

#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <sys/sysctl.h>
#endif

extern char **environ;

// The keeper's descriptors beside the three standard ones.
enum { lock_descriptor = 3, channel_descriptor = 4, first_unused = 5 };
// To numbers from this one on, the process that starts a keeper moves its descriptors: above all that the keeper gets.
enum { first_moved = 16 };
// How often, in milliseconds, it is checked whether a process has ended, where the system can't report its end.
enum { poll_interval = 5 };
// In milliseconds: the shortest time between two renewals, so that the shortest lease keeps no processor busy; and the
// longest wait of one poll, which takes an int: a longer one is made of several.
enum { min_delay = 20, max_wait = 3600000 };
enum { ready = 'r', released = 'g' };

static const char *own_program(void) {
#ifdef __APPLE__
    static char path[4096];
    uint32_t size = sizeof(path);
    return _NSGetExecutablePath(path, &size) == 0 ? path : NULL;
#else
    // The running program, even if another file has its path by now.
    return "/proc/self/exe";
#endif
}

static int64_t now(void) {
    struct timespec time = {0};
#ifdef __linux__
    (void)clock_gettime(CLOCK_BOOTTIME, &time);
#else
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
#endif
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// A descriptor that can be read once the process has ended; -1 if the system has none.
static int open_process(pid_t pid) {
#if defined(__linux__) && defined(SYS_pidfd_open)
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

static int runs(pid_t pid, int64_t start) {
    bs_running_process found;
    return bs_find_process((int32_t)pid, &found) && found.start == start;
}

// MARK: - For the process that starts a keeper

// Moves a descriptor above all that the keeper gets; no program inherits the new one.
static int move_up(int descriptor) {
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, first_moved);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

static int spawn_keeper(pid_t *keeper, char *const words[], int lock, int channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int standard = 0; standard < 3 && error == 0; standard++) {
        error = posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
    }
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, lock, lock_descriptor);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, channel, channel_descriptor);
    if (error == 0) error = posix_spawn(keeper, own_program(), &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

pid_t bc_start_keeper(char *const words[], int lock, int *channel) {
    int ends[2];
    pid_t keeper = -1;
    char answer = 0;
    *channel = -1;
    int own_lock = fcntl(lock, F_DUPFD_CLOEXEC, first_moved);
    if (own_lock < 0) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        close(own_lock);
        return -1;
    }
    int own = move_up(ends[0]), others = move_up(ends[1]);
    int error = own < 0 || others < 0 ? errno : spawn_keeper(&keeper, words, own_lock, others);
    close(own_lock);
    if (others >= 0) close(others);
    if (error == 0) {
        ssize_t count;
        do count = read(own, &answer, 1);
        while (count < 0 && errno == EINTR);
        if (count == 1 && answer == ready) {
            *channel = own;
            return keeper;
        }
        // It has ended, because the holder has, or because it could not begin.
        int status = 0;
        while (waitpid(keeper, &status, 0) < 0 && errno == EINTR) {}
        error = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ESRCH : ECHILD;
    }
    if (own >= 0) close(own);
    errno = error;
    return -1;
}

void bc_release_keeper(int channel) {
    char word = released;
    // Without SIGPIPE: the keeper may have ended.
    while (send(channel, &word, 1,
#ifdef MSG_NOSIGNAL
                MSG_NOSIGNAL
#else
                0
#endif
                ) < 0 && errno == EINTR) {}
    close(channel);
}

void bc_abandon_keeper(pid_t keeper, int channel) {
    close(channel);
    (void)kill(keeper, SIGKILL);
    while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) {}
}

// MARK: - The keeper

typedef struct {
    char *const *words;
    pid_t holder;
    int64_t holder_start, lease;
    int holder_descriptor;
    int channel;
    // The child that renews the lease; 0 for none.
    pid_t child;
    // The descriptor from which the child's output is read; -1 at its end.
    int child_output;
    char text[32];
    size_t text_count;
    // When to start the next child, or to end one that hangs.
    int64_t due;
} keeper_state;

static void close_from(int first) {
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0 || limit > 65536) limit = 65536;
    for (int descriptor = first; descriptor < limit; descriptor++) close(descriptor);
}

#ifdef __linux__
static int drop_constant_pages(struct dl_phdr_info *object, size_t size, void *unused) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    (void)unused;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & ~(page - 1);
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}
#endif

// Releases the memory of code and constants (madvise); the kernel reads them again from the file. Writable segments are
// left alone.
static void drop_code(void) {
#ifdef __linux__
    (void)dl_iterate_phdr(drop_constant_pages, NULL);
#endif
}

static void schedule(keeper_state *state, int64_t delay) {
    state->due = now() + (delay < min_delay ? min_delay : delay);
}

// A lease is renewed after its half: the second half is left for renewals that fail, or come late.
static void schedule_renewal(keeper_state *state) { schedule(state, state->lease / 2); }

// A renewal that failed is tried again after an eighth of the lease: several times before the lease is over.
static void schedule_retry(keeper_state *state) { schedule(state, state->lease / 8); }

// Starts the child that renews the lease.
static void start_renewal(keeper_state *state) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    char verb[] = BC_RENEWING_VERB, store[] = "--store", end[] = "--";
    char *const words[] = {
        state->words[0], verb, store, state->words[bc_keeper_store], end, state->words[bc_keeper_circuit],
        state->words[bc_keeper_token], state->words[bc_keeper_epoch], NULL,
    };
    schedule_retry(state);
    if (bc_make_pipe(ends) != 0) return;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        if (posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) != 0
            || posix_spawn(&state->child, own_program(), &actions, NULL, words, environ) != 0) state->child = 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (state->child == 0) {
        close(ends[0]);
        return;
    }
    state->child_output = ends[0];
    state->text_count = 0;
    // Until then it may take; it is ended if it takes longer.
    schedule(state, state->lease / 2);
}

// Reads what the child has printed.
static void read_output(keeper_state *state) {
    ssize_t count = read(state->child_output, state->text + state->text_count,
                         sizeof(state->text) - 1 - state->text_count);
    if (count > 0) state->text_count += (size_t)count;
    if (count > 0 && state->text_count < sizeof(state->text) - 1) return;
    close(state->child_output);
    state->child_output = -1;
}

// Reaps the child if it has ended, and schedules the next one; returns 0 if the slot is gone.
static int finish_renewal(keeper_state *state) {
    int status = 0;
    if (waitpid(state->child, &status, WNOHANG) <= 0) return 1;
    state->child = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == bc_slot_is_gone) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        state->text[state->text_count] = 0;
        int64_t lease = strtoll(state->text, NULL, 10);
        if (lease > 0) state->lease = lease;
        schedule_renewal(state);
    } else {
        schedule_retry(state);
    }
    drop_code();
    return 1;
}

static void end_child(keeper_state *state) {
    if (state->child > 0) (void)kill(state->child, SIGKILL);
}

// Waits for the next event; returns 0 if the keeper is to end.
static int step(keeper_state *state) {
    struct pollfd ends[] = {
        {.fd = state->holder_descriptor, .events = POLLIN},
        {.fd = state->channel, .events = POLLIN},
        {.fd = state->child_output, .events = POLLIN},
    };
    int64_t left = state->due - now();
    if (left < 0) left = 0;
    if (left > max_wait) left = max_wait;
    int is_child_ending = state->child > 0 && state->child_output < 0;
    if ((state->holder_descriptor < 0 || is_child_ending) && left > poll_interval) left = poll_interval;
    int count = poll(ends, 3, (int)left);
    if (count < 0 && errno != EINTR) return 0;
    if (count > 0 && ends[0].revents != 0) return 0;
    if (state->holder_descriptor < 0 && !runs(state->holder, state->holder_start)) return 0;
    if (count > 0 && ends[1].revents != 0) {
        char word = 0;
        // Without the word, the process that started this one has ended before it could hand over the permit.
        if (read(state->channel, &word, 1) != 1 || word != released) return 0;
        close(state->channel);
        state->channel = -1;
        drop_code();
    }
    if (count > 0 && ends[2].revents != 0) read_output(state);
    if (state->child > 0 && state->child_output < 0 && !finish_renewal(state)) return 0;
    if (now() < state->due) return 1;
    if (state->child > 0) {
        // It hangs. The next one is started once it has ended.
        end_child(state);
        schedule_retry(state);
    } else {
        start_renewal(state);
    }
    return 1;
}

static int64_t number(const char *text) { return strtoll(text, NULL, 10); }

int bc_run_keeper(int count, char *const words[]) {
    char word = ready;
    if (count != bc_keeper_word_count) return 64;
    keeper_state state = {
        .words = words, .holder = (pid_t)number(words[bc_keeper_holder]),
        .holder_start = number(words[bc_keeper_holder_start]), .lease = number(words[bc_keeper_lease]),
        .channel = channel_descriptor, .child_output = -1,
    };
    (void)signal(SIGPIPE, SIG_IGN);
    close_from(first_unused);
    if (fcntl(lock_descriptor, F_SETFD, FD_CLOEXEC) != 0 || fcntl(channel_descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        return 64;
    }
    (void)chdir("/");
#ifdef __linux__
    (void)prctl(PR_SET_NAME, "breaker-keeper");
#endif
    state.holder_descriptor = open_process(state.holder);
    if (state.holder_descriptor >= 0) (void)fcntl(state.holder_descriptor, F_SETFD, FD_CLOEXEC);
    // Checked once the process is open: from now on its pid can't become another's unseen.
    if (!runs(state.holder, state.holder_start)) return 0;
    schedule_renewal(&state);
    if (write(channel_descriptor, &word, 1) != 1) return 1;
    while (step(&state)) {}
    end_child(&state);
    return 0;
}

// MARK: - The end

// Whether this process is a keeper of this token, by its command line.
static int is_keeper(pid_t pid, const char *verb, const char *token) {
    char text[8192];
    size_t length = 0;
#ifdef __APPLE__
    int names[] = {CTL_KERN, KERN_PROCARGS2, pid};
    size_t size = sizeof(text);
    if (sysctl(names, 3, text, &size, NULL, 0) != 0 || size < sizeof(int)) return 0;
    // The number of words, the program's path, padding, then the words.
    char *from = text + sizeof(int), *end = text + size;
    while (from < end && *from) from++;
    while (from < end && !*from) from++;
    length = (size_t)(end - from);
    memmove(text, from, length);
#else
    char path[40];
    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof(text));
    close(file);
    if (count <= 0) return 0;
    length = (size_t)count;
#endif
    const char *word = text;
    for (int index = 0; index <= bc_keeper_token; index++) {
        const char *end_of_word = memchr(word, 0, length - (size_t)(word - text));
        if (end_of_word == NULL) return 0;
        if (index == bc_keeper_verb && strcmp(word, verb) != 0) return 0;
        if (index == bc_keeper_token) return strcmp(word, token) == 0;
        word = end_of_word + 1;
    }
    return 0;
}

void bc_end_keeper(pid_t keeper, int64_t start, const char *verb, const char *token) {
    if (keeper <= 1) return;
    int descriptor = open_process(keeper);
    // Checked once the process is open: what is found is true of the process that gets the signal.
    if (runs(keeper, start) && is_keeper(keeper, verb, token)) {
#if defined(__linux__) && defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
        if (descriptor >= 0) {
            (void)syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
        } else {
            (void)kill(keeper, SIGKILL);
        }
#else
        (void)kill(keeper, SIGKILL);
#endif
    }
    if (descriptor >= 0) close(descriptor);
}
