#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stdint.h>

// Records all that this process changes in one directory: this program's own system calls and those of SQLite, since
// the functions of the C library by these names are this target's in each program that is linked with it. Until
// `recorder_start` they do nothing but the system call.
//
// Several processes write to one record, which they map. One lock makes one order of all changes. A process that
// records must not be killed, and calls `recorder_stop` before it exits: one of its threads may hold the lock.

/// Seven numbers of 64 bits, then bytes up to a multiple of eight: the size of the whole, the kind, the process and
/// its thread (32 bits each), the file (its inode), the descriptor, an offset, and how many bytes follow or how large
/// the file becomes.
enum recorder_kind {
    /// What the program itself says; the bytes are its text.
    RECORDER_MARK = 1,
    /// A new name in the directory; the bytes are that name.
    RECORDER_CREATE,
    RECORDER_WRITE,
    RECORDER_RESIZE,
    /// What was written before a sync begins is on the disk when it ends; file -1 is the directory.
    RECORDER_SYNC_BEGIN,
    RECORDER_SYNC_END,
    /// The bytes are both names, with a zero between.
    RECORDER_RENAME,
    RECORDER_UNLINK,
};

/// A record begins with so many bytes, the second eight of which say how many are in use.
enum { RECORDER_HEADER = 64, RECORDER_USED_AT = 8 };

/// Whether this build can record: on Linux, without the thread sanitizer, which has these functions for itself.
bool recorder_is_available(void);

/// Records changes of the files in `directory` from now on, but for those whose names end in `-shm`: what is in them is
/// mapped. Makes the record if there is none. False if the record can't be had.
bool recorder_start(const char *record, const char *directory);

void recorder_mark(const char *text, long length);

/// Ends this process's changes, whoever of its threads is about to make one: it can exit now.
void recorder_stop(void);

/// How many bytes the files may still grow, in all processes, before writes fail with ENOSPC; below zero: without end.
void recorder_leave_room(int64_t bytes);

/// Leaves out, from now on, this process's syncs of a log through descriptors by which frames were written to it: those
/// behind a commit that must survive. They are recorded all the same.
void recorder_leave_out_syncs_of_writers(void);

/// Whether something could not be recorded.
bool recorder_has_overflown(void);

#endif
