#pragma once
// In C: Swift's modules of the C library do not have the locks of open file descriptions, nor `statfs` everywhere.
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <sys/vfs.h>
#endif

// Linux: the file system's magic number. macOS: 0 if the kernel calls it local, 1 if not. -1: unknown.
static inline int64_t bs_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
#ifdef __APPLE__
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
#else
    return (int64_t)(uint32_t)info.f_type;
#endif
}

// OFD locks, of an open file description. Darwin hides their names from programs outside the system. Linux hides them
// from programs that are built without _GNU_SOURCE, as Swift's own module of the C library is.
#ifndef F_OFD_SETLK
#ifdef __APPLE__
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#else
#define F_OFD_SETLK 37
#define F_OFD_GETLK 36
#endif
#endif

static inline struct flock bs_bytes(int64_t offset, int64_t count, short type) {
    struct flock bytes;
    memset(&bytes, 0, sizeof bytes);
    bytes.l_type = type;
    bytes.l_whence = SEEK_SET;
    bytes.l_start = offset;
    bytes.l_len = count;
    return bytes;
}

// Locks or unlocks bytes for the open file description, without waiting; 0 when done.
static inline int bs_set_lock(int descriptor, int64_t offset, int64_t count, int locked) {
    struct flock bytes = bs_bytes(offset, count, locked ? F_WRLCK : F_UNLCK);
    return fcntl(descriptor, F_OFD_SETLK, &bytes);
}

// Whether another open file description has locked any of `count` bytes: 1, 0, or -1 if the call failed.
//
// If so, `offset` and `count` become those of one of its locks; a lock up to the end of all files has a count of 0.
static inline int bs_find_lock(int descriptor, int64_t *offset, int64_t *count) {
    struct flock bytes = bs_bytes(*offset, *count, F_WRLCK);
    if (fcntl(descriptor, F_OFD_GETLK, &bytes) != 0) return -1;
    if (bytes.l_type == F_UNLCK) return 0;
    *offset = bytes.l_start;
    *count = bytes.l_len;
    return 1;
}
static inline int bs_is_any_locked(int descriptor, int64_t offset, int64_t count) {
    return bs_find_lock(descriptor, &offset, &count);
}
