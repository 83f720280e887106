// Counts the system calls of another process's thread as a debugger sees them, so that nothing in that process differs.
#define _GNU_SOURCE
#include "CBenchmarks.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#if defined(__linux__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 31)

#include "spawning.h"
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int bb_be_traced(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0 ? 0 : -1; }

// The library has no use for this one.
void bb_mark(void) { (void)syscall(SYS_getppid); }

int64_t bb_count_system_calls(const char *program, const char *role, const char *path) {
    int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t process = output < 0 ? -1 : bb_spawn(program, role, path, -1, output);
    if (output >= 0) close(output);
    if (process < 0) return -1;
    int64_t calls = 0;
    int marks = 0, is_followed = 0, status = 0;
    pid_t thread;
    // The thread that has stopped is not the first one of its process, and is waited for by its own number.
    while ((thread = waitpid(-1, &status, __WALL)) > 0 && (thread != process || WIFSTOPPED(status))) {
        if (!WIFSTOPPED(status)) continue;
        int signal = WSTOPSIG(status);
        if (signal == SIGSTOP && !is_followed) {
            is_followed = 1;
            (void)ptrace(PTRACE_SETOPTIONS, thread, NULL, (void *)PTRACE_O_TRACESYSGOOD);
            signal = 0;
        } else if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info = {0};
            (void)ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid) marks++;
            else if (info.op == PTRACE_SYSCALL_INFO_ENTRY && marks == 1) calls++;
            signal = 0;
        }
        (void)ptrace(marks < 2 ? PTRACE_SYSCALL : PTRACE_DETACH, thread, NULL, (void *)(intptr_t)signal);
    }
    return thread == process && WIFEXITED(status) && WEXITSTATUS(status) == 0 && marks == 2 ? calls : -1;
}

#else

int bb_be_traced(void) { return -1; }
void bb_mark(void) {}
int64_t bb_count_system_calls(const char *program, const char *role, const char *path) {
    (void)program, (void)role, (void)path;
    return -1;
}

#endif
