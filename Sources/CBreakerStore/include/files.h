#pragma once
// In C: in Swift's modules of the C library the fields of `struct stat` have other names on each system.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

// Opens a file, always under a number above 2; -1, with errno, on failure.
//
// A process may have been started with its standard output or error closed. open(2) would return that number, and the
// next line that the process prints would overwrite the file. SQLite avoids these numbers, too (os_unix.c,
// SQLITE_MINIMUM_FILE_DESCRIPTOR).
static inline int bs_open(const char *path, int flags, uint32_t mode) {
    int descriptor = open(path, flags | O_CLOEXEC, (mode_t)mode);
    if (descriptor < 0 || descriptor > 2) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

// The facts of stat(2) about a file.
struct bs_found {
    uint64_t device, inode;
    int64_t size, modified_seconds, modified_nanoseconds, changed_seconds, changed_nanoseconds;
    uint64_t links;
    uint32_t mode, owner, group;
};

static inline struct bs_found bs_found_of(const struct stat *info) {
#ifdef __APPLE__
    struct timespec modified = info->st_mtimespec, changed = info->st_ctimespec;
#else
    struct timespec modified = info->st_mtim, changed = info->st_ctim;
#endif
    return (struct bs_found){
        .device = (uint64_t)info->st_dev,
        .inode = (uint64_t)info->st_ino,
        .size = (int64_t)info->st_size,
        .modified_seconds = modified.tv_sec,
        .modified_nanoseconds = modified.tv_nsec,
        .changed_seconds = changed.tv_sec,
        .changed_nanoseconds = changed.tv_nsec,
        .links = (uint64_t)info->st_nlink,
        .mode = info->st_mode,
        .owner = info->st_uid,
        .group = info->st_gid,
    };
}

// Gets the facts of the file at a path; returns 0, or the number in errno.
static inline int bs_find(const char *path, int follows, struct bs_found *found) {
    struct stat info;
    if ((follows ? stat(path, &info) : lstat(path, &info)) != 0) return errno;
    *found = bs_found_of(&info);
    return 0;
}

// Gets the facts of an open file; returns 0, or the number in errno.
static inline int bs_find_open(int descriptor, struct bs_found *found) {
    struct stat info;
    if (fstat(descriptor, &info) != 0) return errno;
    *found = bs_found_of(&info);
    return 0;
}
