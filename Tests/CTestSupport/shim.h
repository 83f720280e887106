#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <util.h>
#else
#include <linux/fs.h>
#include <sys/syscall.h>
#include <pty.h>
#endif

/// How many bytes of a file have a place on the disk; -1 if there is no such file.
static inline int64_t ts_allocated(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_blocks * 512 : -1;
}

// A pipe that no program started meanwhile inherits; Swift hides pipe2.
#ifdef __linux__
extern int pipe2(int ends[2], int flags);
static inline int ts_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }
#else
static inline int ts_pipe(int *ends) {
    if (pipe(ends)) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    return fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}
#endif

// Swift hides fork: a child may do little more than what is async-signal-safe.
static inline pid_t ts_fork(void) { return fork(); }

// Forks a child that SIGALRM ends after so many seconds, whatever it waits for. A thread of the store blocks all
// signals, and the child of one would never end: its test would wait with it.
static inline pid_t ts_fork_for(unsigned seconds) {
    pid_t child = fork();
    if (child) return child;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    return 0;
}

#ifdef __linux__
// How often the other threads of this process have been given a processor; -1 if one of them has it, or waits for it.
static inline int64_t ts_turns_of_others(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return -1;
    int64_t turns = 0;
    for (struct dirent *thread; turns >= 0 && (thread = readdir(threads));) {
        if (thread->d_name[0] == '.' || atoi(thread->d_name) == (int)syscall(SYS_gettid)) continue;
        char path[300], line[512], *name_end;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", thread->d_name);
        FILE *file = fopen(path, "re");
        long long ran, waited, count = 0;
        if (file && fscanf(file, "%lld %lld %lld", &ran, &waited, &count) == 3) turns += count;
        if (file) fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread->d_name);
        // A thread without a file has just ended.
        if (!(file = fopen(path, "re"))) continue;
        // The name in parentheses may hold parentheses; the state follows the last one.
        if (fgets(line, sizeof line, file) && (name_end = strrchr(line, ')')) && name_end[2] != 'S') turns = -1;
        fclose(file);
    }
    closedir(threads);
    return turns;
}
#else
static inline int64_t ts_turns_of_others(void) { return 0; }
#endif

// Forks a child, as `ts_fork_for`, at an instant at which all other threads sleep.
//
// The Swift runtime has locks for what it does once, and SQLite has locks for all connections of a process. A thread
// that has such a lock at the fork leaves the lock taken in the child for ever. So a child of a fork beside which
// another thread ran is killed, and the fork is made again. Gives up, with -1, after a minute of looks.
static inline pid_t ts_fork_beside_sleepers(unsigned seconds) {
    for (int looks = 0; looks < 60000; looks++) {
        int64_t turns = ts_turns_of_others();
        int verdict[2];
        if (turns < 0) {
            usleep(1000);
            continue;
        }
        if (ts_pipe(verdict)) return -1;
        pid_t child = ts_fork_for(seconds);
        if (child == 0) {
            char word;
            close(verdict[1]);
            if (read(verdict[0], &word, 1) != 1) _exit(0);
            close(verdict[0]);
            return 0;
        }
        int ran = child < 0 || ts_turns_of_others() != turns;
        if (!ran) (void)!write(verdict[1], "", 1);
        close(verdict[0]);
        close(verdict[1]);
        if (!ran || child < 0) return child;
        kill(child, SIGKILL);
        while (waitpid(child, 0, 0) < 0 && errno == EINTR) {
        }
    }
    return -1;
}

// What "Running workers on a host" has in a header; its Swift is in breaker-worker.
// snippet
// Swift hides fork.
static inline pid_t start_process(void) { return fork(); }

// The status of the next child that ends; -1 if there is none.
static inline int wait_for_process(void) {
    int status;
    return wait(&status) > 0 ? status : -1;
}
// end of snippet

// The macros of <sys/wait.h>. The exit code, or the signal's number below zero.
static inline int ts_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

// One value in memory that processes share.
static inline int64_t ts_load(const int64_t *value) { return __atomic_load_n(value, __ATOMIC_SEQ_CST); }
static inline void ts_store(int64_t *value, int64_t new_value) { __atomic_store_n(value, new_value, __ATOMIC_SEQ_CST); }
static inline int64_t ts_add(int64_t *value, int64_t number) {
    return __atomic_add_fetch(value, number, __ATOMIC_SEQ_CST);
}
static inline void ts_raise(int64_t *value, int64_t number) {
    int64_t known = ts_load(value);
    while (known < number && !__atomic_compare_exchange_n(value, &known, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}
static inline void ts_flip(int64_t *value, int64_t bits) { __atomic_xor_fetch(value, bits, __ATOMIC_SEQ_CST); }

// A clock in nanoseconds. In C, for in Swift a file that uses the fields of `timespec` must import the module that the
// compiler takes for their definer, and which one that is depends on the other files.
static inline int64_t ts_now(clockid_t clock) {
    struct timespec time = {0};
    (void)clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// How often the calling thread has slept, for something other than a processor. Always 0 where nobody counts that.
#ifdef __linux__
#include <sys/resource.h>
enum { ts_rusage_thread = 1 };
static inline int64_t ts_sleeps(void) {
    struct rusage usage;
    return getrusage(ts_rusage_thread, &usage) ? 0 : usage.ru_nvcsw;
}
#else
static inline int64_t ts_sleeps(void) { return 0; }
#endif

// F_OFD_GETLK has other numbers elsewhere, and Swift's module of the C library hides it.
#ifdef __APPLE__
enum { ts_getlk = 92 };
#else
enum { ts_getlk = 36 };
#endif

// Takes the lock of bytes of a file for as long as this process lives; 0, or -1 if others have it.
static inline int ts_lock(int descriptor, int64_t offset, int64_t count) {
    struct flock bytes;
    memset(&bytes, 0, sizeof bytes);
    bytes.l_type = F_WRLCK;
    bytes.l_whence = SEEK_SET;
    bytes.l_start = offset;
    bytes.l_len = count;
    return fcntl(descriptor, F_SETLK, &bytes);
}

// Whether anybody holds a byte of the file: 1, 0, or -1 where it can't be said.
static inline int ts_is_locked(const char *path, int64_t offset) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return -1;
    struct flock byte;
    memset(&byte, 0, sizeof byte);
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = offset;
    byte.l_len = 1;
    int code = fcntl(descriptor, ts_getlk, &byte);
    close(descriptor);
    return code ? -1 : byte.l_type != F_UNLCK;
}

// Starts a program on a terminal of its own, which controls it: ^C typed at the other end is a signal there. Its pid,
// or -1.
static inline pid_t ts_start_on_terminal(int *other_end, int columns, int rows, const char *program,
                                         char *const *arguments, char *const *environment) {
    struct winsize size = {(unsigned short)rows, (unsigned short)columns, 0, 0};
    int terminal;
    if (openpty(other_end, &terminal, 0, 0, &size)) return -1;
    fcntl(*other_end, F_SETFD, FD_CLOEXEC);
    fcntl(terminal, F_SETFD, FD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(terminal, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++) dup2(terminal, i);
        for (int i = 3; i < 4096; i++) close(i);
        // What the parent blocks or ignores, its children would, too.
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, 0);
        for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
        execve(program, arguments, environment);
        _exit(127);
    }
    close(terminal);
    return pid;
}

static inline ssize_t ts_read(int descriptor, void *buffer, size_t size) { return read(descriptor, buffer, size); }

static inline int ts_resize(int other_end, int columns, int rows) {
    struct winsize size = {(unsigned short)rows, (unsigned short)columns, 0, 0};
    return ioctl(other_end, TIOCSWINSZ, &size);
}

// Swap what two paths lead to, or rename unless the new name is taken, in one step. Swift hides both.
#ifdef __linux__
extern int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags);
static inline int ts_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */);
}
static inline int ts_rename_if_free(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */);
}
#else
#include <stdio.h>
static inline int ts_exchange(const char *one, const char *other) { return renamex_np(one, other, RENAME_SWAP); }
static inline int ts_rename_if_free(const char *from, const char *to) { return renamex_np(from, to, RENAME_EXCL); }
#endif

// Whether a child is halted by a signal just now: 1, 0, or -1 if it is no child.
static inline int ts_is_halted(pid_t child) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PID, child, &info, WSTOPPED | WNOHANG | WNOWAIT)) return -1;
    return info.si_pid == child;
}

// Syncs the file system of a directory. Swift hides syncfs.
#ifdef __linux__
extern int syncfs(int descriptor);
#endif
static inline void ts_sync_all(const char *directory) {
#ifdef __linux__
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    syncfs(descriptor);
    close(descriptor);
#else
    (void)directory;
    sync();
#endif
}

// Makes a copy of a file that shares its blocks, as they are at one instant; 0, or -1 where the file system can't.
static inline int ts_share_blocks(const char *from, const char *to) {
#ifdef __linux__
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int copy = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int code = source < 0 || copy < 0 ? -1 : ioctl(copy, FICLONE, source);
    int error = errno;
    if (source >= 0) close(source);
    if (copy >= 0) close(copy);
    errno = error;
    return code;
#else
    (void)from, (void)to;
    return -1;
#endif
}

// Swift Testing notes the backtrace of each error that is thrown, under a lock. A child of `fork` would wait for ever
// for that lock if another thread of its parent held it at the fork.
static inline void ts_note_no_backtraces(void) {
    extern void *_swift_willThrow __attribute__((weak));
    extern void *_swift_willThrowTypedImpl __attribute__((weak));
    if (&_swift_willThrow) __atomic_store_n(&_swift_willThrow, NULL, __ATOMIC_RELEASE);
    if (&_swift_willThrowTypedImpl) __atomic_store_n(&_swift_willThrowTypedImpl, NULL, __ATOMIC_RELEASE);
}
