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

// Linux: the file system's magic number. macOS, as the kernel says: 0 local, 1 not local. -1: unknown.
static inline int64_t bs_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
#ifdef __APPLE__
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
#else
    return (int64_t)(uint32_t)info.f_type;
#endif
}

// Locks of an open file description. Darwin hides their names from programs outside the system. Linux hides them from
// programs that are built without _GNU_SOURCE, as Swift's own module of the C library is.
#ifndef F_OFD_SETLK
#ifdef __APPLE__
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#else
#define F_OFD_SETLK 37
#define F_OFD_GETLK 36
#endif
#endif

static inline struct flock bs_byte(int64_t offset, short type) {
    struct flock byte;
    memset(&byte, 0, sizeof byte);
    byte.l_type = type;
    byte.l_whence = SEEK_SET;
    byte.l_start = offset;
    byte.l_len = 1;
    return byte;
}

// Locks or unlocks one byte for the open file description, without waiting; 0 when done.
static inline int bs_set_lock(int descriptor, int64_t offset, int locked) {
    struct flock byte = bs_byte(offset, locked ? F_WRLCK : F_UNLCK);
    return fcntl(descriptor, F_OFD_SETLK, &byte);
}

// Whether another open file description locks any of `count` bytes: 1, 0, or -1 if the kernel does not say.
static inline int bs_is_any_locked(int descriptor, int64_t offset, int64_t count) {
    struct flock bytes = bs_byte(offset, F_WRLCK);
    bytes.l_len = count;
    if (fcntl(descriptor, F_OFD_GETLK, &bytes) != 0) return -1;
    return bytes.l_type != F_UNLCK;
}
static inline int bs_is_locked(int descriptor, int64_t offset) { return bs_is_any_locked(descriptor, offset, 1); }
