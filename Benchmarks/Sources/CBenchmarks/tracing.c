// Counts the system calls of another process's thread as a debugger sees them, so that nothing in that process differs.
#define _GNU_SOURCE
#include "CBenchmarks.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 31)
#define CAN_TRACE
#endif
#endif

#ifdef CAN_TRACE

#include "spawning.h"
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int bb_be_traced(void) {
    // Without its parent the stopped process would stay for ever.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() == 1) return -1;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0 ? 0 : -1;
}

// The library has no use for this one.
void bb_mark(void) { (void)syscall(SYS_getppid); }

// Whether a call names a file by its path, as far as a process makes such calls to look at files or to open them.
static int names_a_path(const struct __ptrace_syscall_info *info) {
    switch (info->entry.nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_rename:
    case SYS_unlink:
#endif
    case SYS_openat:
    case SYS_faccessat:
    case SYS_readlinkat:
    case SYS_renameat2:
    case SYS_statfs:
    case SYS_unlinkat: return 1;
    // Of an open file without a path: what fstat(3) calls.
    case SYS_newfstatat: return (info->entry.args[3] & AT_EMPTY_PATH) == 0;
    default: return 0;
    }
}

int bb_count_system_calls(const char *program, const char *role, const char *path, int64_t *count, int64_t *paths) {
    *count = 0;
    *paths = 0;
    int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t process = output < 0 ? -1 : bb_spawn(program, role, path, -1, output);
    if (output >= 0) close(output);
    if (process < 0) return -1;
    int marks = 0, is_followed = 0, status = 0;
    for (;;) {
        // The thread that has stopped is not the first one of its process, and is waited for by its own number.
        pid_t thread = waitpid(-1, &status, __WALL | WUNTRACED);
        if (thread < 0 && errno == EINTR) continue;
        if (thread < 0) return -1;
        if (thread == process && !WIFSTOPPED(status)) break;
        if (!WIFSTOPPED(status)) continue;
        int signal = WSTOPSIG(status);
        if (signal == SIGSTOP && !is_followed) {
            is_followed = 1;
            void *options = (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
            // A system that only claims to trace has stopped the process for good.
            if (ptrace(PTRACE_SETOPTIONS, thread, NULL, options) != 0) (void)kill(process, SIGKILL);
            signal = 0;
        } else if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info = {0};
            (void)ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid) marks++;
            else if (info.op == PTRACE_SYSCALL_INFO_ENTRY && marks == 1) {
                ++*count;
                *paths += names_a_path(&info);
            }
            signal = 0;
        }
        (void)ptrace(marks < 2 ? PTRACE_SYSCALL : PTRACE_DETACH, thread, NULL, (void *)(intptr_t)signal);
    }
    if (!WIFEXITED(status)) return -1;
    return WEXITSTATUS(status) == 0 && marks != 2 ? -1 : WEXITSTATUS(status);
}

#else

int bb_be_traced(void) { return -1; }
void bb_mark(void) {}
int bb_count_system_calls(const char *program, const char *role, const char *path, int64_t *count, int64_t *paths) {
    char output[1];
    *count = 0;
    *paths = 0;
    return bb_run(program, role, path, output, sizeof output);
}

#endif
