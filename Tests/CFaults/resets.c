#include "resets.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

enum stage { IDLE, ARMED, BEGUN };

// The lock that a checkpointer holds (https://sqlite.org/walformat.html#wal_locks).
enum { CHECKPOINT_LOCK = 1 };

static atomic_int stage;
static atomic_int before_code = -1;
static atomic_int inside_code = -1;
static const char *before_sql;
static const char *inside_sql;
static sqlite3_file *checkpointing;
static sqlite3 *other;

static const sqlite3_io_methods *original;
static sqlite3_io_methods watched;

int resets_run(const char *sql) { return sqlite3_exec(other, sql, NULL, NULL, NULL); }

static int watched_lock(sqlite3_file *file, int offset, int count, int flags) {
    int armed = ARMED;
    if (offset == CHECKPOINT_LOCK && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
        && atomic_compare_exchange_strong(&stage, &armed, IDLE)) {
        atomic_store(&before_code, resets_run(before_sql));
        checkpointing = file;
        atomic_store(&stage, BEGUN);
    }
    // Where the header had not changed since it was last read, the next checkpoint is the one.
    int begun = BEGUN;
    if (offset == CHECKPOINT_LOCK && (flags & SQLITE_SHM_UNLOCK) && file == checkpointing)
        atomic_compare_exchange_strong(&stage, &begun, ARMED);
    return original->xShmLock(file, offset, count, flags);
}

// sqlite3WalCheckpoint calls it for no page in particular when it has read the header of the wal-index anew.
static int watched_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    int begun = BEGUN;
    if (page == NULL && file == checkpointing && atomic_compare_exchange_strong(&stage, &begun, IDLE))
        atomic_store(&inside_code, resets_run(inside_sql));
    return original->xUnfetch(file, offset, page);
}

static sqlite3_vfs watching;
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int watching_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    int code = real_open(vfs, name, file, flags, out);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB) || file->pMethods == NULL) return code;
    // All databases have the same methods: those of POSIX locks.
    if (original == NULL) {
        original = file->pMethods;
        watched = *original;
        watched.xShmLock = watched_lock;
        watched.xUnfetch = watched_unfetch;
    }
    if (file->pMethods == original) file->pMethods = &watched;
    return code;
}

int resets_install(void) {
    sqlite3_vfs *unix_vfs = sqlite3_vfs_find("unix");
    if (unix_vfs == NULL) return SQLITE_ERROR;
    watching = *unix_vfs;
    watching.zName = "watching";
    real_open = unix_vfs->xOpen;
    watching.xOpen = watching_open;
    return sqlite3_vfs_register(&watching, 1);
}

int resets_open(const char *path) {
    int code = sqlite3_open_v2(path, &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    return code != SQLITE_OK ? code : resets_run("PRAGMA wal_autocheckpoint = 1; PRAGMA cache_size = -20000");
}

void resets_close(void) {
    sqlite3_close(other);
    other = NULL;
}

void resets_arm(const char *before, const char *inside) {
    before_sql = before;
    inside_sql = inside;
    atomic_store(&before_code, -1);
    atomic_store(&inside_code, -1);
    atomic_store(&stage, ARMED);
}

struct resets_codes resets_codes(void) {
    return (struct resets_codes){atomic_load(&before_code), atomic_load(&inside_code)};
}
