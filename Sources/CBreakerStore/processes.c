#include "include/processes.h"

#ifdef __APPLE__
#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>

int bs_find_process(int32_t pid, bs_running_process *found) {
    struct proc_bsdinfo info;
    if (pid <= 0 || proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info)) != (int)sizeof(info)) return 0;
    if (info.pbi_status == SZOMB) return 0;
    found->parent = (int32_t)info.pbi_ppid;
    found->start = (int64_t)(info.pbi_start_tvsec * 100 + info.pbi_start_tvusec / 10000);
    return 1;
}
#else
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int bs_find_process(int32_t pid, bs_running_process *found) {
    char path[40], text[1024];
    if (pid <= 0) return 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof(text) - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    // The name is in parentheses, and may have any byte: the fields begin behind the last one (proc_pid_stat(5)).
    const char *fields = strrchr(text, ')');
    char state;
    int parent;
    unsigned long long start;
    if (fields == NULL) return 0;
    if (sscanf(fields + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &parent, &start) != 3) return 0;
    if (state == 'Z' || state == 'X' || state == 'x') return 0;
    found->parent = (int32_t)parent;
    found->start = (int64_t)start;
    return 1;
}
#endif
