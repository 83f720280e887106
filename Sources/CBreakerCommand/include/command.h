#pragma once
// In C: between fork and exec only async-signal-safe functions may be called, and Swift's runtime has none. The same is
// true of handlers of signals.
#include <stddef.h>
#include <sys/types.h>

// MARK: - Signals as they were inherited

// Records which signals this process inherited as ignored, and which were blocked, for the commands that it starts.
// Called once, before the program sets a handler.
void bc_record_inherited_signals(void);

// MARK: - Starting a command

typedef struct {
    // The program and its arguments, ended by a null pointer. Without a slash the program is searched in PATH.
    char *const *words;
    // Whether the command gets a process group of its own.
    int has_own_group;
    // The terminal whose foreground that group gets; -1 for none.
    int terminal;
    // Whether this process adopts the orphans of its descendants (Linux), so that `bc_reap_group` sees them.
    int adopts_orphans;
} bc_command;

// Starts a command with the signals as this process inherited them; from then on the signals that this process gets are
// queued for `bc_read_signal`. Where the kernel can do it (Linux), the command is killed when this process ends.
// So this must be called on the main thread: the kernel watches the thread.
//
// Returns the command's id, or -1 with errno if no process can be made. If the program can't be executed, returns 0 and
// sets `error` to the reason.
pid_t bc_start(const bc_command *command, int *error);

// MARK: - Waiting

// Waits for a signal, for at most this time; forever if negative.
void bc_wait_for_signal(int milliseconds);

// Takes the next signal from the queue of those that this process got since the command was started; 0 if it is empty.
// SIGCHLD is one of them.
// `is_of_terminal`: whether the terminal sent it, so that the whole foreground group has it.
int bc_read_signal(int *is_of_terminal);

typedef enum { bc_runs, bc_stopped, bc_exited, bc_killed } bc_state;

// Reads what has become of the command since the last call, and reaps it if it has ended. `number` is the exit code, or
// the signal that stopped or killed the command. Not called again after `bc_exited` or `bc_killed`.
bc_state bc_check_command(pid_t pid, int *number);

// Reaps the processes of a command's group that have ended, after the command itself has; returns whether others run.
// On Linux only children and adopted orphans are seen.
int bc_reap_group(pid_t group);

// MARK: - The terminal

// Opens the terminal of this process's session; -1 without one.
int bc_open_terminal(void);

// Whether this process's group has the terminal's foreground.
int bc_is_foreground(int terminal);

// Gives the terminal's foreground to a group; also if this process's own group does not have it.
void bc_give_foreground(int terminal, pid_t group);

// Stops this process's own group by a signal, as the terminal would; returns once it goes on.
void bc_stop_own_group(int signal);

// Ends this process by a signal, after all other processes of its group have got it, too, if `whole_group`.
// Returns only if the signal is ignored.
void bc_end_by_signal(int signal, int whole_group);

// MARK: - A file that a command writes

// A file's stamp, which changes when the file is written.
typedef struct {
    int is_there, is_regular;
    unsigned long long device, inode;
    long long size, seconds, nanoseconds;
} bc_stamp;

// The stamp of the file at a path; `is_there` is 0 if there is none.
bc_stamp bc_stamp_of(const char *path);

// Reads the start of a regular file, without ever waiting; returns the number of bytes, or -1 with errno, which is
// EINVAL for another kind of file.
ssize_t bc_read_file(const char *path, void *buffer, size_t size);
