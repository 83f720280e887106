#pragma once
#include <sqlite3.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

// MARK: - Variadic functions of SQLite, which Swift can't call

static inline int bs_db_config(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

// SQLITE_TRANSIENT, with which SQLite copies the text, is a cast that Swift can't express.
static inline int bs_bind_text(sqlite3_stmt *statement, int place, const void *text, int count) {
    return sqlite3_bind_text(statement, place, text ? (const char *)text : "", count, SQLITE_TRANSIENT);
}

// MARK: - What SQLite opens by itself

// SQLite opens the database, its journal, log and wal-index by name. Its open(2) would wait forever at a pipe that no
// process writes to. These VFSes are the system's, but check each name directly before SQLite opens it. In the VFSes
// for connections that may write, neither a full disk ends the process that uses the wal-index, nor a limit of the size
// of files the process that writes.
typedef struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    int is_for_readers;
    int has_private_index;
    int needs_log;
    // The largest size that this process may give a file.
    const int64_t *size_limit;
} bs_vfs;

// The most regions of a private wal-index: each has 32 KiB and holds 4,096 frames of the log.
enum { bs_max_regions = 64 };

// The wal-index of a connection that reads a log without one: it is in the connection's own memory, so no file is made
// or locked. It lies behind the system's own file object, so that the system's methods find their fields.
typedef struct {
    sqlite3_io_methods methods;
    void *regions[bs_max_regions];
} bs_private_index;

static inline bs_private_index *bs_index_of(sqlite3_file *file) { return (bs_private_index *)file->pMethods; }

static inline int bs_private_map(sqlite3_file *file, int region, int size, int extend, void volatile **page) {
    (void)extend;
    *page = 0;
    // The code means "large file support is disabled"; no other limit of SQLite has this code.
    if (region < 0 || region >= bs_max_regions) return SQLITE_NOLFS;
    void **place = &bs_index_of(file)->regions[region];
    if (!*place) *place = calloc(1, (size_t)size);
    *page = *place;
    return *place ? SQLITE_OK : SQLITE_NOMEM;
}

static inline int bs_private_unmap(sqlite3_file *file, int delete_file) {
    (void)delete_file;
    void **regions = bs_index_of(file)->regions;
    for (int i = 0; i < bs_max_regions; i++) {
        free(regions[i]);
        regions[i] = 0;
    }
    return SQLITE_OK;
}

static inline int bs_private_index_lock(sqlite3_file *file, int offset, int count, int flags) {
    (void)file, (void)offset, (void)count, (void)flags;
    return SQLITE_OK;
}
static inline void bs_private_barrier(sqlite3_file *file) { (void)file; }
static inline int bs_private_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}
static inline int bs_private_reserved(sqlite3_file *file, int *is_reserved) {
    (void)file;
    *is_reserved = 0;
    return SQLITE_OK;
}

static inline void bs_make_private(sqlite3_file *file, bs_private_index *index) {
    memset(index, 0, sizeof *index);
    index->methods = *file->pMethods;
    // Version 2 has no xFetch, so SQLite maps nothing of the file.
    index->methods.iVersion = 2;
    index->methods.xLock = index->methods.xUnlock = bs_private_lock;
    index->methods.xCheckReservedLock = bs_private_reserved;
    index->methods.xShmMap = bs_private_map;
    index->methods.xShmLock = bs_private_index_lock;
    index->methods.xShmBarrier = bs_private_barrier;
    index->methods.xShmUnmap = bs_private_unmap;
    file->pMethods = &index->methods;
}

// The methods of a file that may be written; they, too, lie behind the system's own file object.
typedef struct {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *system;
    const int64_t *size_limit;
    // One bit for each of the first 64 regions of the wal-index, set once the file system has been asked for room.
    uint64_t regions_asked;
} bs_checked_file;

static inline int bs_is_beyond_limit(const bs_checked_file *checked, int64_t size) {
    return size > __atomic_load_n(checked->size_limit, __ATOMIC_RELAXED);
}

// The kernel ends a process that writes beyond the limit (SIGXFSZ). SQLite is given the error of a full disk instead.
static inline int bs_write_checked(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    const bs_checked_file *checked = (const bs_checked_file *)file->pMethods;
    if (bs_is_beyond_limit(checked, offset + count)) return SQLITE_FULL;
    return checked->system->xWrite(file, bytes, count, offset);
}

// Maps a region of the wal-index, and lets the file system reserve room for all of it.
//
// SQLite writes one byte of each 4,096, and relies on the file system to keep room for the others. A file system with
// smaller blocks does not: on a full disk the kernel ends the process that stores into the rest (SIGBUS). madvise(2) of
// MADV_POPULATE_WRITE: "EFAULT: populating page tables failed because a SIGBUS would have been generated on actual
// memory access". Linux knows this advice since 5.14.
//
// The file system is asked once for each region. A commit maps the first region four times, and each question would
// cost about as much as writing a page.
static inline int bs_map_checked(sqlite3_file *file, int region, int size, int extend, void volatile **page) {
    bs_checked_file *checked = (bs_checked_file *)file->pMethods;
    *page = 0;
    // Checked before SQLite makes the wal-index or lets it grow.
    if (bs_is_beyond_limit(checked, ((int64_t)region + 1) * size)) return SQLITE_FULL;
    int rc = checked->system->xShmMap(file, region, size, extend, page);
#ifdef __linux__
    enum { populate_write = 23 };
    uint64_t bit = region >= 0 && region < 64 ? (uint64_t)1 << region : 0;
    if (rc != SQLITE_OK || !*page || (checked->regions_asked & bit)) return rc;
    if (madvise((void *)*page, (size_t)size, populate_write) != 0 && errno == EFAULT) {
        *page = 0;
        return SQLITE_FULL;
    }
    // Also set if the kernel does not know the advice: then asking again is useless.
    checked->regions_asked |= bit;
#endif
    return rc;
}

static inline int bs_unmap_checked(sqlite3_file *file, int delete_file) {
    bs_checked_file *checked = (bs_checked_file *)file->pMethods;
    checked->regions_asked = 0;
    return checked->system->xShmUnmap(file, delete_file);
}

static inline void bs_check_file(sqlite3_file *file, bs_checked_file *checked, const int64_t *size_limit) {
    checked->methods = *file->pMethods;
    checked->system = file->pMethods;
    checked->size_limit = size_limit;
    checked->regions_asked = 0;
    checked->methods.xWrite = bs_write_checked;
    if (checked->methods.iVersion >= 2 && checked->methods.xShmMap) {
        checked->methods.xShmMap = bs_map_checked;
        checked->methods.xShmUnmap = bs_unmap_checked;
    }
    file->pMethods = &checked->methods;
}

// Makes the wal-index, if there is none, such that btrfs writes it in place.
//
// By default btrfs never writes twice to one place: once a page of a mapped file was written out, the next store into
// it needs new room, and on a full disk the kernel ends the process (SIGBUS). Only an empty file can be set otherwise.
// Closing a file that was just made drops no locks. SQLite gives an empty wal-index the database's mode.
static inline void bs_make_index(const char *path) {
#ifdef __linux__
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return;
    // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_NOCOW_FL, by value: their header and the header of ioctl would bring
    // types of other modules into this one.
    int flags = 0;
    if (syscall(SYS_ioctl, descriptor, _IOR('f', 1, long), &flags) == 0) {
        flags |= 0x00800000;
        syscall(SYS_ioctl, descriptor, _IOW('f', 2, long), &flags);
    }
    close(descriptor);
#else
    (void)path;
#endif
}

static inline int bs_is_regular_or_absent(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) return errno == ENOENT;
    if (S_ISREG(info.st_mode)) return 1;
    // The error of an open with O_NOFOLLOW at a symbolic link, which the caller turns into an unsafe path.
    errno = ELOOP;
    return 0;
}

static inline int bs_place_of_methods(const sqlite3_vfs *system) { return (system->szOsFile + 7) / 8 * 8; }

static inline int bs_is_btrfs(const char *path) {
#ifdef __linux__
    struct statfs info;
    return statfs(path, &info) == 0 && (uint32_t)info.f_type == 0x9123683E;
#else
    (void)path;
    return 0;
#endif
}

static inline int bs_open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out) {
    bs_vfs *own = (bs_vfs *)vfs;
    char index[1024] = "";
    file->pMethods = 0;
    // Not SQLITE_CANTOPEN: SQLite would take an unopenable journal for one to roll back (pager.c, hasHotJournal).
    if (name && !bs_is_regular_or_absent(name)) return SQLITE_IOERR;
    if (name && (flags & SQLITE_OPEN_WAL)) {
        // The system's VFS opens the wal-index next, without a call to this function.
        size_t length = strlen(name);
        if (length < 4 || length >= sizeof index) return SQLITE_IOERR;
        memcpy(index, name, length + 1);
        memcpy(index + length - 4, "-shm", 4);
        if (!bs_is_regular_or_absent(index)) return SQLITE_IOERR;
        // SQLite asks to write to the log and to create it, whatever the database is opened for.
        if (own->has_private_index)
            flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
        // A new, empty log would hide from the process that the real log is gone. Frames that the process then wrote
        // behind the lost frames would be lost, too.
        if (own->needs_log) flags &= ~SQLITE_OPEN_CREATE;
    }
    int rc = own->system->xOpen(own->system, name, file, flags, flags_out);
    if (rc == SQLITE_OK && own->has_private_index && (flags & SQLITE_OPEN_MAIN_DB) && file->pMethods)
        bs_make_private(file, (bs_private_index *)((char *)file + bs_place_of_methods(own->system)));
    if (rc == SQLITE_OK && !own->is_for_readers) {
        bs_checked_file *checked = (bs_checked_file *)((char *)file + bs_place_of_methods(own->system));
        if (file->pMethods) bs_check_file(file, checked, own->size_limit);
        if (*index && bs_is_btrfs(name)) bs_make_index(index);
    }
    return rc;
}

// SQLite deletes the log of an empty (or one-byte) database, even if it only reads (pager.c, pagerOpenWalIfPresent).
static inline int bs_delete_nothing(sqlite3_vfs *vfs, const char *name, int sync_directory) {
    (void)vfs, (void)name, (void)sync_directory;
    return SQLITE_OK;
}

// Registers the VFS with SQLite under `name`, which must stay valid. The VFS is never freed: SQLite keeps its address.
static inline int bs_register_vfs(
    const char *name, int is_for_readers, int has_private_index, int needs_log, const int64_t *size_limit) {
    sqlite3_vfs *system = sqlite3_vfs_find(0);
    bs_vfs *own = system ? (bs_vfs *)calloc(1, sizeof(bs_vfs)) : 0;
    if (!own) return SQLITE_NOMEM;
    own->vfs = *system;
    own->vfs.pNext = 0;
    own->vfs.zName = name;
    own->vfs.xOpen = bs_open_file;
    if (is_for_readers) own->vfs.xDelete = bs_delete_nothing;
    size_t more = has_private_index ? sizeof(bs_private_index) : is_for_readers ? 0 : sizeof(bs_checked_file);
    own->vfs.szOsFile = bs_place_of_methods(system) + (int)more;
    own->system = system;
    own->is_for_readers = is_for_readers;
    own->has_private_index = has_private_index;
    own->needs_log = needs_log;
    own->size_limit = size_limit;
    return sqlite3_vfs_register(&own->vfs, 0);
}

static inline int bs_register_vfses(const int64_t *size_limit) {
    int rc = bs_register_vfs("breaker-store", 0, 0, 0, size_limit);
    if (rc == SQLITE_OK) rc = bs_register_vfs("breaker-store-sharing", 0, 0, 1, size_limit);
    if (rc == SQLITE_OK) rc = bs_register_vfs("breaker-store-reader", 1, 0, 0, size_limit);
    return rc == SQLITE_OK ? bs_register_vfs("breaker-store-private", 1, 1, 0, size_limit) : rc;
}

// Reads the first bytes of a database through SQLite, without a connection: if this process itself opened the file, the
// close would drop all its locks on it. SQLite delays the close while a connection of the process has locks.
static inline int bs_read_beginning(const char *path, void *buffer, int count) {
    sqlite3_vfs *vfs = sqlite3_vfs_find("breaker-store-reader");
    const char *name = sqlite3_create_filename(path, "", "", 0, 0);
    sqlite3_file *file = vfs ? (sqlite3_file *)calloc(1, (size_t)vfs->szOsFile) : 0;
    int rc = SQLITE_NOMEM;
    if (name && file) {
        rc = vfs->xOpen(vfs, name, file, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, 0);
        if (rc == SQLITE_OK) rc = file->pMethods->xRead(file, buffer, count, 0);
    }
    int cause = errno;
    if (file && file->pMethods) file->pMethods->xClose(file);
    free(file);
    // Before SQLite 3.40 the parameter is not const.
    sqlite3_free_filename((char *)name);
    errno = cause;
    return rc;
}

// MARK: - The files behind a connection

// The first page of the wal-index; its first 96 bytes are two copies of the header, which every commit changes
// (https://sqlite.org/walformat.html#the_wal_index_header). Valid as long as the connection is open.
static inline const uint64_t *bs_wal_index(sqlite3 *db) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    void volatile *page = 0;
    int rc = file->pMethods->xShmMap(file, 0, 32768, 0, &page);
    // SQLITE_READONLY: mapped for reading, by a connection that may not write the wal-index.
    return rc == SQLITE_OK || rc == SQLITE_READONLY ? (const uint64_t *)page : 0;
}

// Syncs the log: everything that COMMIT wrote is then on the disk.
static inline int bs_sync_wal(sqlite3 *db) {
    sqlite3_file *wal = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (rc != SQLITE_OK) return rc;
    if (!wal || !wal->pMethods) return SQLITE_OK;
    return wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL);
}

static inline int bs_persist_wal(sqlite3 *db) {
    int on = 1;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

// Whether the connection's path now leads to another file, or to none; 0 if SQLite can't find out.
static inline int bs_has_moved(sqlite3 *db) {
    int moved = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved;
}

// A number that changes with each commit to the database, of this connection or another; as of the connection's present
// transaction. 0 if SQLite can't say.
static inline uint32_t bs_data_version(sqlite3 *db) {
    uint32_t version = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return rc == SQLITE_OK ? version : 0;
}

// Reads from the database file through SQLite: an open and close by hand would drop this process's locks on the file.
static inline int bs_read_file(sqlite3 *db, void *buffer, int count, int64_t offset) {
    sqlite3_file *file = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK) return rc;
    if (!file || !file->pMethods) return SQLITE_MISUSE;
    return file->pMethods->xRead(file, buffer, count, offset);
}
