#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "command.h"
#include "pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#ifdef NSIG
static const int signal_count = NSIG;
#else
static const int signal_count = 65;
#endif

// The signals that are passed on to the command. SIGCHLD is queued, too, but not passed on.
static const int passed[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
};
enum { passed_count = sizeof passed / sizeof passed[0] };

static sigset_t inherited_mask;
static sigset_t inherited_ignored;
static int has_inherited;

// The pipe into which the handler writes each signal (the self-pipe trick).
static int signals[2] = {-1, -1};

void bc_record_inherited_signals(void) {
    sigemptyset(&inherited_ignored);
    for (int number = 1; number < signal_count; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) sigaddset(&inherited_ignored, number);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &inherited_mask);
    has_inherited = 1;
}

// MARK: - Signals

struct queued_signal {
    uint8_t number;
    uint8_t is_of_terminal;
};

static void queue_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    struct queued_signal queued = {(uint8_t)number, 0};
#ifdef SI_KERNEL
    // A timer's signal comes from the kernel, too.
    queued.is_of_terminal = info->si_code == SI_KERNEL && number != SIGALRM;
#else
    // These systems don't say who sent it.
    (void)info;
#endif
    // A pipe that is full holds thousands of signals already.
    ssize_t written = write(signals[1], &queued, sizeof queued);
    (void)written;
    errno = error;
}

int bc_make_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

// Queues signals from now on. In a shared group the terminal stops this process and the command alike, so what stops a
// process does so by default.
static int install_handlers(int has_own_group) {
    if (bc_make_pipe(signals) != 0) return -1;
    for (int end = 0; end < 2; end++) fcntl(signals[end], F_SETFL, O_NONBLOCK);
    struct sigaction action = {0};
    action.sa_sigaction = queue_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
    struct sigaction ignored = {0}, standard = {0};
    ignored.sa_handler = SIG_IGN;
    standard.sa_handler = SIG_DFL;
    for (int index = 0; index < passed_count; index++) {
        int number = passed[index];
        int stops = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
        // One that was ignored from the start is ignored by the command, too, as after `nohup`.
        if (has_inherited && sigismember(&inherited_ignored, number)) {
            sigaction(number, &ignored, NULL);
        } else if (stops && !has_own_group) {
            sigaction(number, &standard, NULL);
        } else {
            sigaction(number, &action, NULL);
        }
    }
    return 0;
}

void bc_wait_for_signal(int milliseconds) {
    struct pollfd input = {.fd = signals[0], .events = POLLIN};
    (void)poll(&input, 1, milliseconds);
}

int bc_read_signal(int *is_of_terminal) {
    struct queued_signal queued;
    if (read(signals[0], &queued, sizeof queued) != (ssize_t)sizeof queued) return 0;
    *is_of_terminal = queued.is_of_terminal;
    return queued.number;
}

// MARK: - Starting a command

// Runs in the child, which may share this process's memory until it executes the program (vfork): it changes nothing
// but its own kernel state.
static void execute(const bc_command *command, pid_t parent, int error_pipe) {
    if (command->has_own_group) setpgid(0, 0);
    // All signals are blocked here, so SIGTTOU does not stop this process.
    if (command->terminal >= 0) tcsetpgrp(command->terminal, getpid());
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before that.
    if (getppid() != parent) _exit(127);
#else
    (void)parent;
#endif
    struct sigaction action = {0};
    for (int number = 1; number < signal_count; number++) {
        if (number == SIGKILL || number == SIGSTOP) continue;
        action.sa_handler = has_inherited && sigismember(&inherited_ignored, number) == 1 ? SIG_IGN : SIG_DFL;
        (void)sigaction(number, &action, NULL);
    }
    sigset_t mask = inherited_mask;
    if (!has_inherited) sigemptyset(&mask);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    execvp(command->words[0], command->words);
    int error = errno;
    ssize_t written = write(error_pipe, &error, sizeof error);
    (void)written;
    _exit(127);
}

pid_t bc_start(const bc_command *command, int *error) {
    *error = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // This process may have inherited SIGCHLD as ignored. Then the kernel would reap the command itself.
    struct sigaction standard = {0};
    standard.sa_handler = SIG_DFL;
    (void)sigaction(SIGCHLD, &standard, NULL);
#ifdef __linux__
    if (command->adopts_orphans) (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    int ends[2];
    pid_t pid = -1;
    int failure = 0;
    if (bc_make_pipe(ends) == 0) {
        pid_t parent = getpid();
#ifdef __linux__
        // No fork: its handlers and its copy of the page tables take longer than all else here.
        pid = vfork();
#else
        pid = fork();
#endif
        if (pid == 0) execute(command, parent, ends[1]);
        failure = errno;
        close(ends[1]);
        if (pid > 0) {
            ssize_t count;
            int found = 0;
            while ((count = read(ends[0], &found, sizeof found)) < 0 && errno == EINTR) {}
            if (count == (ssize_t)sizeof found) {
                while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
                *error = found;
                pid = 0;
            }
        }
        close(ends[0]);
    } else {
        failure = errno;
    }
    // SIGCHLD is pending, if the command has ended already: it was blocked until here.
    if (pid > 0 && install_handlers(command->has_own_group) != 0) {
        failure = errno;
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
        pid = -1;
    }
    // Signals that were inherited as blocked would never be reported.
    sigdelset(&before, SIGCHLD);
    for (int index = 0; index < passed_count; index++) sigdelset(&before, passed[index]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return pid;
}

// MARK: - Waiting

bc_state bc_check_command(pid_t pid, int *number) {
    int status = 0;
    pid_t found;
    // Orphans that this process has adopted are reaped, too.
    do found = waitpid(-1, &status, WNOHANG | WUNTRACED);
    while (found > 0 && found != pid);
    if (found < 0 && errno == ECHILD) {
        // Nobody else reaps it. If somebody does, how it ended can't be known.
        *number = SIGKILL;
        return bc_killed;
    }
    if (found != pid) return bc_runs;
    if (WIFEXITED(status)) {
        *number = WEXITSTATUS(status);
        return bc_exited;
    }
    if (WIFSIGNALED(status)) {
        *number = WTERMSIG(status);
        return bc_killed;
    }
    if (!WIFSTOPPED(status)) return bc_runs;
    *number = WSTOPSIG(status);
    return bc_stopped;
}

int bc_reap_group(pid_t group) {
#ifdef __linux__
    // Orphans of the group are this process's children. One that has ended is reaped here.
    pid_t found;
    while ((found = waitpid(-group, NULL, WNOHANG)) > 0) {}
    return found == 0;
#else
    return kill(-group, 0) == 0;
#endif
}

// MARK: - The terminal

int bc_open_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0 || terminal > 2) return terminal;
    int moved = fcntl(terminal, F_DUPFD_CLOEXEC, 3);
    close(terminal);
    return moved;
}

int bc_is_foreground(int terminal) { return tcgetpgrp(terminal) == getpgrp(); }

void bc_give_foreground(int terminal, pid_t group) {
    sigset_t stopping, before;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGTTOU);
    // While SIGTTOU is blocked, a group of the background may do this.
    pthread_sigmask(SIG_BLOCK, &stopping, &before);
    (void)tcsetpgrp(terminal, group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void bc_stop_own_group(int number) {
    struct sigaction standard = {0}, before;
    standard.sa_handler = SIG_DFL;
    if (sigaction(number, &standard, &before) != 0) {
        // SIGSTOP has no action that could be set.
        (void)kill(0, number);
        return;
    }
    // Delivered to this thread before kill returns, unless the signal is blocked.
    (void)kill(0, number);
    (void)sigaction(number, &before, NULL);
}

void bc_end_by_signal(int number, int whole_group) {
    if (has_inherited && sigismember(&inherited_ignored, number) == 1) return;
    struct sigaction standard = {0};
    standard.sa_handler = SIG_DFL;
    (void)sigaction(number, &standard, NULL);
    sigset_t unblocked;
    sigemptyset(&unblocked);
    sigaddset(&unblocked, number);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
    (void)kill(whole_group ? 0 : getpid(), number);
}

// MARK: - A file that a command writes

bc_stamp bc_stamp_of(const char *path) {
    struct stat info;
    bc_stamp stamp = {0};
    if (stat(path, &info) != 0) return stamp;
#ifdef __APPLE__
    struct timespec modified = info.st_mtimespec;
#else
    struct timespec modified = info.st_mtim;
#endif
    stamp.is_there = 1;
    stamp.is_regular = S_ISREG(info.st_mode) != 0;
    stamp.device = (unsigned long long)info.st_dev;
    stamp.inode = (unsigned long long)info.st_ino;
    stamp.size = (long long)info.st_size;
    stamp.seconds = (long long)modified.tv_sec;
    stamp.nanoseconds = (long long)modified.tv_nsec;
    return stamp;
}

ssize_t bc_read_file(const char *path, void *buffer, size_t size) {
    // A pipe without a writer would block, and its open, too.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    struct stat info;
    ssize_t count = -1;
    int error = EINVAL;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) {
        count = read(file, buffer, size);
        error = errno;
    }
    close(file);
    errno = error;
    return count;
}
