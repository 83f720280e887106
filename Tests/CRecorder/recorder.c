#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__linux__) && !__has_feature(thread_sanitizer)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RECORD_SIZE = 256 << 20, MOST_DESCRIPTORS = 4096 };

struct record {
    atomic_int_least64_t lock;
    atomic_int_least64_t used;
    atomic_int_least64_t has_room;
    atomic_int_least64_t room;
    atomic_int_least64_t overflown;
    char padding[RECORDER_HEADER - 40];
    char entries[RECORD_SIZE - RECORDER_HEADER];
};

static _Atomic(struct record *) record;
static char directory[PATH_MAX];
static size_t directory_length;
/// The file that each descriptor is of: 0 for one that is not recorded, -1 for the directory.
static atomic_int_least64_t files[MOST_DESCRIPTORS];

/// Whether frames of a log were written by a descriptor just now, not the log's header.
static atomic_bool has_frames[MOST_DESCRIPTORS];
static atomic_bool leaves_out_syncs;

static atomic_bool has_stopped;

static void unlock(struct record *to) { atomic_store(&to->lock, 0); }

static void lock(struct record *to) {
    while (true) {
        while (atomic_exchange(&to->lock, 1)) sched_yield();
        if (!atomic_load(&has_stopped)) return;
        unlock(to);
        pause();
    }
}

static void append(struct record *to, int64_t kind, int64_t file, int descriptor, int64_t offset, int64_t count,
                   const void *bytes, size_t length) {
    int64_t used = atomic_load(&to->used);
    int64_t numbers[7] = {sizeof numbers + ((int64_t)length + 7) / 8 * 8,
                          kind,
                          (int64_t)getpid() << 32 | (int64_t)syscall(SYS_gettid),
                          file,
                          descriptor,
                          offset,
                          count};
    if (used + numbers[0] > (int64_t)sizeof to->entries) {
        atomic_store(&to->overflown, 1);
        return;
    }
    memcpy(to->entries + used, numbers, sizeof numbers);
    if (length) memcpy(to->entries + used + sizeof numbers, bytes, length);
    atomic_store(&to->used, used + numbers[0]);
}

/// The name of a file in the directory that is recorded, "" for the directory itself, NULL for all else.
static const char *name_of(const char *path) {
    if (strncmp(path, directory, directory_length)) return NULL;
    if (path[directory_length] == 0) return "";
    if (path[directory_length] != '/') return NULL;
    const char *name = path + directory_length + 1;
    size_t length = strlen(name);
    if (strchr(name, '/') || strstr(name, "-shm.") || (length > 4 && !strcmp(name + length - 4, "-shm"))) return NULL;
    return name;
}

static int64_t file_of(int descriptor) {
    if (!atomic_load(&record) || descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return 0;
    return atomic_load(&files[descriptor]);
}

static int64_t size_of(int descriptor) {
    struct stat info;
    return fstat(descriptor, &info) ? 0 : info.st_size;
}

bool recorder_is_available(void) { return true; }

bool recorder_start(const char *path, const char *of) {
    if (!realpath(of, directory)) return false;
    directory_length = strlen(directory);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    struct record *mapped = MAP_FAILED;
    if (!syscall(SYS_ftruncate, descriptor, (off_t)sizeof *mapped))
        mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    syscall(SYS_close, descriptor);
    if (mapped == MAP_FAILED) return false;
    atomic_store(&record, mapped);
    return true;
}

void recorder_mark(const char *text, long length) {
    struct record *to = atomic_load(&record);
    if (!to) return;
    int error = errno;
    lock(to);
    append(to, RECORDER_MARK, 0, -1, 0, length, text, (size_t)length);
    unlock(to);
    errno = error;
}

void recorder_stop(void) {
    struct record *to = atomic_load(&record);
    if (!to) return;
    lock(to);
    atomic_store(&has_stopped, true);
    unlock(to);
}

void recorder_leave_room(int64_t bytes) {
    struct record *to = atomic_load(&record);
    if (!to) return;
    atomic_store(&to->room, bytes);
    atomic_store(&to->has_room, bytes >= 0);
}

void recorder_leave_out_syncs_of_writers(void) { atomic_store(&leaves_out_syncs, true); }

bool recorder_has_overflown(void) {
    struct record *to = atomic_load(&record);
    return to && atomic_load(&to->overflown);
}

// MARK: - The functions of the C library

static int open_file(const char *path, int flags, mode_t mode) {
    struct record *to = atomic_load(&record);
    const char *name = to ? name_of(path) : NULL;
    if (!name) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    struct stat info;
    lock(to);
    int is_new = *name && lstat(path, &info);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    int error = errno;
    if (descriptor >= MOST_DESCRIPTORS) atomic_store(&to->overflown, 1);
    if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS && !fstat(descriptor, &info)) {
        int64_t file = *name ? (int64_t)info.st_ino : -1;
        atomic_store(&files[descriptor], file);
        atomic_store(&has_frames[descriptor], false);
        if (is_new) append(to, RECORDER_CREATE, file, descriptor, 0, 0, name, strlen(name));
        if (!is_new && (flags & O_TRUNC)) append(to, RECORDER_RESIZE, file, descriptor, 0, 0, NULL, 0);
    }
    unlock(to);
    errno = error;
    return descriptor;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(path, flags, mode);
}

int close(int descriptor) {
    if (file_of(descriptor)) atomic_store(&files[descriptor], 0);
    return (int)syscall(SYS_close, descriptor);
}

/// Whether a file may have this size; the lock is held.
static bool has_room(struct record *to, int descriptor, int64_t size) {
    if (!atomic_load(&to->has_room)) return true;
    int64_t growth = size - size_of(descriptor);
    if (growth <= 0) return true;
    if (growth > atomic_load(&to->room)) return false;
    atomic_fetch_sub(&to->room, growth);
    return true;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    int64_t file = file_of(descriptor);
    if (!file) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    struct record *to = atomic_load(&record);
    lock(to);
    ssize_t written = -1;
    int error = ENOSPC;
    if (has_room(to, descriptor, offset + (int64_t)count)) {
        written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
        error = errno;
        atomic_store(&has_frames[descriptor], offset > 0);
        if (written > 0) append(to, RECORDER_WRITE, file, descriptor, offset, written, bytes, (size_t)written);
    }
    unlock(to);
    errno = error;
    return written;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (!file_of(descriptor)) return syscall(SYS_write, descriptor, bytes, count);
    off_t place = lseek(descriptor, 0, SEEK_CUR);
    ssize_t written = pwrite(descriptor, bytes, count, place);
    if (written > 0) lseek(descriptor, place + written, SEEK_SET);
    return written;
}

int ftruncate(int descriptor, off_t size) {
    int64_t file = file_of(descriptor);
    if (!file) return (int)syscall(SYS_ftruncate, descriptor, size);
    struct record *to = atomic_load(&record);
    lock(to);
    int code = (int)syscall(SYS_ftruncate, descriptor, size);
    int error = errno;
    if (!code) append(to, RECORDER_RESIZE, file, descriptor, 0, size, NULL, 0);
    unlock(to);
    errno = error;
    return code;
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t count) {
    int64_t file = file_of(descriptor);
    if (!file) return (int)syscall(SYS_fallocate, descriptor, mode, offset, count);
    struct record *to = atomic_load(&record);
    lock(to);
    int code = -1;
    int error = ENOSPC;
    if (has_room(to, descriptor, offset + count)) {
        int64_t before = size_of(descriptor);
        code = (int)syscall(SYS_fallocate, descriptor, mode, offset, count);
        error = errno;
        int64_t after = size_of(descriptor);
        if (!code && after != before) append(to, RECORDER_RESIZE, file, descriptor, 0, after, NULL, 0);
    }
    unlock(to);
    errno = error;
    return code;
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t count) {
    return fallocate(descriptor, mode, offset, count);
}

int posix_fallocate(int descriptor, off_t offset, off_t count) {
    return fallocate(descriptor, 0, offset, count) ? errno : 0;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t count) {
    return posix_fallocate(descriptor, offset, count);
}

static bool is_log(int descriptor) {
    char link[64], name[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name);
    return length > 4 && !memcmp(name + length - 4, "-wal", 4);
}

static int sync_file(long call, int descriptor) {
    int64_t file = file_of(descriptor);
    struct record *to = atomic_load(&record);
    if (!file) return (int)syscall(call, descriptor);
    lock(to);
    append(to, RECORDER_SYNC_BEGIN, file, descriptor, 0, 0, NULL, 0);
    unlock(to);
    int code = atomic_load(&leaves_out_syncs) && is_log(descriptor) && atomic_load(&has_frames[descriptor])
        ? 0
        : (int)syscall(call, descriptor);
    int error = errno;
    if (!code) {
        lock(to);
        append(to, RECORDER_SYNC_END, file, descriptor, 0, 0, NULL, 0);
        unlock(to);
    }
    errno = error;
    return code;
}

int fsync(int descriptor) { return sync_file(SYS_fsync, descriptor); }

int fdatasync(int descriptor) { return sync_file(SYS_fdatasync, descriptor); }

int rename(const char *from, const char *to_path) {
    struct record *to = atomic_load(&record);
    const char *old = to ? name_of(from) : NULL;
    const char *new = to ? name_of(to_path) : NULL;
    if (!old || !new) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to_path, 0);
    char names[2 * NAME_MAX + 2];
    size_t length = strlen(old) + 1;
    memcpy(names, old, length);
    memcpy(names + length, new, strlen(new));
    length += strlen(new);
    lock(to);
    int code = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to_path, 0);
    int error = errno;
    if (!code) append(to, RECORDER_RENAME, 0, -1, 0, 0, names, length);
    unlock(to);
    errno = error;
    return code;
}

int unlink(const char *path) {
    struct record *to = atomic_load(&record);
    const char *name = to ? name_of(path) : NULL;
    if (!name) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    lock(to);
    int code = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    int error = errno;
    if (!code) append(to, RECORDER_UNLINK, 0, -1, 0, 0, name, strlen(name));
    unlock(to);
    errno = error;
    return code;
}

#else

bool recorder_is_available(void) { return false; }
bool recorder_start(const char *record, const char *directory) { return false; }
void recorder_mark(const char *text, long length) {}
void recorder_stop(void) {}
void recorder_leave_room(int64_t bytes) {}
void recorder_leave_out_syncs_of_writers(void) {}
bool recorder_has_overflown(void) { return false; }

#endif
