#ifndef FAULTS_H
#define FAULTS_H

#include "bus.h"
#include "resets.h"
#include "touch.h"
#include <stdbool.h>

// Makes SQLite's system calls fail on purpose: those of its table (sqlite3_vfs.xSetSystemCall), and the syncs and
// mappings that have no place there (by other methods for each file that it opens).

enum faults_kind {
    FAULTS_OPEN = 1,
    FAULTS_READ = 2,
    FAULTS_WRITE = 4,
    FAULTS_RESIZE = 8,
    FAULTS_LOOK = 16,
    FAULTS_SYNC = 32,
    FAULTS_MAP = 64,
    /// A write that writes half, and then no more.
    FAULTS_SHORT_WRITE = 128,
    /// A read of a page of the database behind the first.
    FAULTS_READ_BEHIND = 256,
};

/// Takes the calls over; once, before the first connection is opened. Returns 0, or SQLite's error.
int faults_install(void);

/// The `at`-th call of these kinds from now on fails with `error`, and all later ones if it is for ever.
void faults_arm(unsigned kinds, int error, long at, bool forever);

/// Nothing fails any longer; returns how many calls of the kinds there were since `faults_arm`.
long faults_disarm(void);

#endif
