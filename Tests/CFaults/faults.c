#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_uint armed_kinds;
static atomic_int armed_error;
static atomic_long armed_at;
static atomic_bool armed_forever;
static atomic_long calls;

static bool fails(unsigned kind) {
    if (!(atomic_load(&armed_kinds) & kind)) return false;
    long call = atomic_fetch_add(&calls, 1) + 1;
    long at = atomic_load(&armed_at);
    if (call != at && !(call > at && atomic_load(&armed_forever))) return false;
    errno = atomic_load(&armed_error);
    return true;
}

void faults_arm(unsigned kinds, int error, long at, bool forever) {
    atomic_store(&armed_kinds, 0);
    atomic_store(&armed_error, error);
    atomic_store(&armed_at, at);
    atomic_store(&armed_forever, forever);
    atomic_store(&calls, 0);
    atomic_store(&armed_kinds, kinds);
}

long faults_disarm(void) {
    atomic_store(&armed_kinds, 0);
    return atomic_load(&calls);
}

// SQLite's own table says how each is called (os_unix.c, aSyscall).

static int faulty_open(const char *path, int flags, int mode) {
    return fails(FAULTS_OPEN) ? -1 : open(path, flags, mode);
}

static ssize_t faulty_read(int file, void *to, size_t count) {
    return fails(FAULTS_READ) ? -1 : read(file, to, count);
}

static ssize_t faulty_pread(int file, void *to, size_t count, off_t offset) {
    // Frames of the log lie elsewhere.
    if (offset > 0 && offset % 4096 == 0 && fails(FAULTS_READ_BEHIND)) return -1;
    return fails(FAULTS_READ) ? -1 : pread(file, to, count, offset);
}

static ssize_t faulty_write(int file, const void *from, size_t count) {
    if (fails(FAULTS_WRITE)) return -1;
    if (fails(FAULTS_SHORT_WRITE)) return count > 1 ? write(file, from, count / 2) : -1;
    return write(file, from, count);
}

static ssize_t faulty_pwrite(int file, const void *from, size_t count, off_t offset) {
    if (fails(FAULTS_WRITE)) return -1;
    if (fails(FAULTS_SHORT_WRITE)) return count > 1 ? pwrite(file, from, count / 2, offset) : -1;
    return pwrite(file, from, count, offset);
}

static int faulty_ftruncate(int file, off_t size) { return fails(FAULTS_RESIZE) ? -1 : ftruncate(file, size); }

static int faulty_stat(const char *path, struct stat *info) { return fails(FAULTS_LOOK) ? -1 : stat(path, info); }

static int faulty_fstat(int file, struct stat *info) { return fails(FAULTS_LOOK) ? -1 : fstat(file, info); }

static int faulty_lstat(const char *path, struct stat *info) { return fails(FAULTS_LOOK) ? -1 : lstat(path, info); }

static int faulty_access(const char *path, int mode) { return fails(FAULTS_LOOK) ? -1 : access(path, mode); }

static int faulty_fchmod(int file, mode_t mode) { return fails(FAULTS_RESIZE) ? -1 : fchmod(file, mode); }

static void *faulty_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    return fails(FAULTS_MAP) ? MAP_FAILED : mmap(at, size, protection, flags, file, offset);
}

// That of the system, which is one for all kinds of files. It is not looked up by the methods that a file has by then:
// the library may have put its own in their place.
static int (*real_sync)(sqlite3_file *, int);

static int faulty_sync(sqlite3_file *file, int flags) {
    return fails(FAULTS_SYNC) ? SQLITE_IOERR_FSYNC : real_sync(file, flags);
}

static sqlite3_vfs shim;
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    int code = real_open(vfs, name, file, flags, out);
    if (code != SQLITE_OK || file->pMethods == NULL) return code;
    // One for each file, never freed: a few hundred bytes for each file that a test opens.
    sqlite3_io_methods *methods = malloc(sizeof *methods);
    if (methods == NULL) return code;
    *methods = *file->pMethods;
    real_sync = methods->xSync;
    methods->xSync = faulty_sync;
    file->pMethods = methods;
    return code;
}

int faults_install(void) {
    sqlite3_vfs *unix_vfs = sqlite3_vfs_find("unix");
    if (unix_vfs == NULL) return SQLITE_ERROR;
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"open", (sqlite3_syscall_ptr)faulty_open},       {"read", (sqlite3_syscall_ptr)faulty_read},
        {"pread", (sqlite3_syscall_ptr)faulty_pread},     {"pread64", (sqlite3_syscall_ptr)faulty_pread},
        {"write", (sqlite3_syscall_ptr)faulty_write},     {"pwrite", (sqlite3_syscall_ptr)faulty_pwrite},
        {"pwrite64", (sqlite3_syscall_ptr)faulty_pwrite}, {"ftruncate", (sqlite3_syscall_ptr)faulty_ftruncate},
        {"stat", (sqlite3_syscall_ptr)faulty_stat},       {"fstat", (sqlite3_syscall_ptr)faulty_fstat},
        {"lstat", (sqlite3_syscall_ptr)faulty_lstat},     {"access", (sqlite3_syscall_ptr)faulty_access},
        {"fchmod", (sqlite3_syscall_ptr)faulty_fchmod},   {"mmap", (sqlite3_syscall_ptr)faulty_mmap},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        // A build of SQLite without such a call says SQLITE_NOTFOUND, which is no harm.
        int code = unix_vfs->xSetSystemCall(unix_vfs, calls[i].name, calls[i].call);
        if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
    }
    shim = *unix_vfs;
    shim.zName = "faulty";
    real_open = (int (*)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *))unix_vfs->xOpen;
    shim.xOpen = shim_open;
    return sqlite3_vfs_register(&shim, 1);
}
