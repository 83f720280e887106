#pragma once
#include <stddef.h>
#include <stdint.h>

// MARK: - Time

// A monotonic clock, in nanoseconds.
uint64_t bb_nanoseconds(void);

// MARK: - Counts. -1 where this system can't count them.

// Allocations that the calling thread has made so far.
int64_t bb_allocations(void);
// Bytes that the process has allocated and not freed.
int64_t bb_heap(void);
// Syncs (fsync, fdatasync) by the calling thread, and by the whole process.
int64_t bb_thread_syncs(void);
int64_t bb_process_syncs(void);

// Counts the SQL statements that connections begin which are opened from now on; returns 0 if that is possible.
int bb_trace_statements(void);
void bb_trace_no_more(void);
// The calling thread's.
int64_t bb_thread_statements(void);

// MARK: - System calls

// The exit code of a process whose guarded thread made a system call.
enum { bb_syscall_made = 86 };

// From here on the first system call of the calling thread ends the process with `bb_syscall_made`; only write and exit
// are free. 0, or -1 where there is no such guard.
int bb_forbid_system_calls(void);
// One cheap system call, to prove that the guard bites.
void bb_make_system_call(void);
// Ends the process at once, with nothing but the system call for that.
_Noreturn void bb_exit_now(int code);

// Runs a program with two arguments and counts the system calls that one of its threads makes between two calls of
// `bb_mark`: all of them, and those that name a file by its path. Returns the program's exit code, or -1 if it did not
// end by itself or set two marks.
int bb_count_system_calls(const char *program, const char *role, const char *path, int64_t *count, int64_t *paths);
// Called in that program, by that thread, once: from here on the parent sees what the thread does. 0, or -1 where this
// is not allowed.
int bb_be_traced(void);
void bb_mark(void);

// MARK: - Lanes

// The nanoseconds of one addition when so many threads (1 or 2) add `count` times to so many lanes (1, 2, 4 or 8) as
// the end of a healthy call does; -1 if it fails, or if a count is missing.
double bb_count_in_lanes(int lanes, int threads, long count);

// MARK: - Processes

// Runs a program with two arguments, reads what it prints into `output` (zero-terminated), waits for its end; its exit
// code, or -1.
int bb_run(const char *program, const char *role, const char *path, char *output, size_t size);
// Starts a program that stays until its standard input is closed; returns once it has printed something. Returns its
// process id, or -1.
int bb_start(const char *program, const char *role, const char *path, int *input);
// Closes the input of a program that `bb_start` has started, and waits for its end.
void bb_stop(int process, int input);
// Starts a program `count` times, waits until each has printed something, lets all begin at once by a byte on their
// standard inputs, and reads what they print from then on, one after the other, into `output` (zero-terminated). 0, or
// -1 if any fails.
int bb_crowd(const char *program, const char *role, const char *path, int count, char *output, size_t size);

// MARK: - Floors

typedef struct bb_floor bb_floor;

// Creates a database with the schema of the store at `model`, the pragmas of a store, `circuits` rows in its table and
// prepared statements; without a model, opens one that was made so. Null if anything fails.
bb_floor *bb_floor_open(const char *path, const char *model, int circuits);
// From now on other processes write, too: waits for them as SQLite does, copies the log as SQLite does by default, and
// writes the failures of this worker. 0, or not.
int bb_floor_share(bb_floor *floor, int worker);
// `count` times the fixed transaction, one after the other: BEGIN IMMEDIATE; SELECT the circuit's row; INSERT a
// failure; UPDATE the circuit's row; COMMIT; SELECT the row once more. Returns the nanoseconds it took, or -1.
int64_t bb_floor_fail(bb_floor *floor, int count);
// Puts `count` failures of the first circuit into the table.
int bb_floor_fill(bb_floor *floor, int count);
// Writes into the first circuit's row that so many failures are there.
int bb_floor_note(bb_floor *floor, int count);
// `count` failures in one transaction. Returns the nanoseconds it took, or -1.
int64_t bb_floor_fail_batch(bb_floor *floor, int count);
// One SELECT of a circuit's row. Returns the nanoseconds it took, or -1.
int64_t bb_floor_look(bb_floor *floor);

// Another connection to a store's file, as another process has one.
typedef struct bb_other bb_other;
bb_other *bb_other_open(const char *path);
// A commit that changes one row, without a checkpoint. 0, or -1.
int bb_other_commit(bb_other *other);
void bb_other_close(bb_other *other);

// Copies the log into the database, so that it stays as short as a store keeps its own.
void bb_floor_checkpoint(bb_floor *floor);
void bb_floor_close(bb_floor *floor);

// Creates a database as a new store is one, reserve included, without a sync, and a second connection. Returns the
// nanoseconds it took, or -1.
int64_t bb_floor_create(const char *path, const char *model);

// Opens a connection, runs one SELECT; returns the nanoseconds it took, or -1. The connection stays open.
int64_t bb_floor_connect(const char *path);

// Copies a store's log into the database and begins it anew, so that it is as short as can be. 0, or -1.
int bb_begin_log(const char *path);
