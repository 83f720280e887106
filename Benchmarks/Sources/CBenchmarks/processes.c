#define _GNU_SOURCE
#include "CBenchmarks.h"
#include "spawning.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// A pipe that no other child inherits.
static int new_pipe(int ends[2]) {
    if (pipe(ends) != 0) return -1;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

pid_t bb_spawn(const char *program, const char *role, const char *path, int input, int output) {
    char *const arguments[] = {(char *)program, (char *)role, (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t process;
    int code = posix_spawn(&process, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code == 0 ? process : -1;
}

static int wait_for(pid_t process) {
    int status;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Reads until the other end is closed; how much there was.
static size_t read_all(int end, char *output, size_t size) {
    size_t filled = 0;
    ssize_t count;
    while (filled + 1 < size && (count = read(end, output + filled, size - 1 - filled)) > 0) filled += (size_t)count;
    output[filled] = 0;
    return filled;
}

int bb_run(const char *program, const char *role, const char *path, char *output, size_t size) {
    int ends[2];
    if (size == 0 || new_pipe(ends) != 0) return -1;
    pid_t process = bb_spawn(program, role, path, -1, ends[1]);
    close(ends[1]);
    (void)read_all(ends[0], output, size);
    close(ends[0]);
    return process < 0 ? -1 : wait_for(process);
}

int bb_start(const char *program, const char *role, const char *path, int *input) {
    int in[2], out[2];
    if (new_pipe(in) != 0) return -1;
    if (new_pipe(out) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    pid_t process = bb_spawn(program, role, path, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    char first;
    ssize_t count = process < 0 ? 0 : read(out[0], &first, 1);
    close(out[0]);
    *input = in[1];
    if (count == 1) return process;
    close(in[1]);
    if (process >= 0) (void)wait_for(process);
    return -1;
}

void bb_stop(int process, int input) {
    close(input);
    (void)wait_for(process);
}

enum { most_in_crowd = 64 };

int bb_crowd(const char *program, const char *role, const char *path, int count, char *output, size_t size) {
    if (count < 1 || count > most_in_crowd || size == 0) return -1;
    int inputs[most_in_crowd], outputs[most_in_crowd];
    pid_t processes[most_in_crowd];
    int started = 0, failed = 0;
    for (; started < count; started++) {
        int in[2], out[2];
        if (new_pipe(in) != 0) break;
        if (new_pipe(out) != 0) {
            close(in[0]);
            close(in[1]);
            break;
        }
        processes[started] = bb_spawn(program, role, path, in[0], out[1]);
        close(in[0]);
        close(out[1]);
        inputs[started] = in[1];
        outputs[started] = out[0];
    }
    failed = started < count;
    char byte;
    for (int i = 0; i < started; i++) failed |= processes[i] < 0 || read(outputs[i], &byte, 1) != 1;
    // Without its byte a child reads the end of its input, and ends.
    for (int i = 0; i < started; i++) {
        if (!failed) failed |= write(inputs[i], "\n", 1) != 1;
    }
    size_t filled = 0;
    output[0] = 0;
    for (int i = 0; i < started; i++) {
        close(inputs[i]);
        filled += read_all(outputs[i], output + filled, size - filled);
        close(outputs[i]);
        failed |= processes[i] < 0 || wait_for(processes[i]) != 0;
    }
    return failed ? -1 : 0;
}
