#pragma once
#include <sqlite3.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __APPLE__
#include <mach/mach.h>
#include <mach/mach_vm.h>
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <sys/vfs.h>
#endif

// MARK: - Variadic functions of SQLite, which Swift can't call

static inline int bs_db_config(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

// SQLITE_TRANSIENT is a cast that Swift can't spell; SQLite copies the text.
static inline int bs_bind_text(sqlite3_stmt *statement, int place, const void *text, int count) {
    return sqlite3_bind_text(statement, place, text ? (const char *)text : "", count, SQLITE_TRANSIENT);
}

// MARK: - What SQLite opens by itself

// SQLite opens the database, its journal, log and wal-index by name, with an open(2) that waits for ever at a pipe that
// nobody writes to. These VFSes are the system's, but they look at each name directly before SQLite opens it.
typedef struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    int has_private_index;
} bs_vfs;

// 32 KiB each; one holds 4,096 frames of the log.
enum { bs_most_regions = 64 };

// The wal-index of a connection that reads a log without one: in its own memory, and no file is made or locked. It lies
// behind the system's own file object, so that the system's methods find theirs.
typedef struct {
    sqlite3_io_methods methods;
    void *regions[bs_most_regions];
} bs_private_index;

static inline bs_private_index *bs_index_of(sqlite3_file *file) { return (bs_private_index *)file->pMethods; }

static inline int bs_private_map(sqlite3_file *file, int region, int size, int extend, void volatile **page) {
    (void)extend;
    *page = 0;
    // "Large file support is disabled": no other limit of SQLite's has this code.
    if (region < 0 || region >= bs_most_regions) return SQLITE_NOLFS;
    void **place = &bs_index_of(file)->regions[region];
    if (!*place) *place = calloc(1, (size_t)size);
    *page = *place;
    return *place ? SQLITE_OK : SQLITE_NOMEM;
}

static inline int bs_private_unmap(sqlite3_file *file, int delete_file) {
    (void)delete_file;
    void **regions = bs_index_of(file)->regions;
    for (int i = 0; i < bs_most_regions; i++) {
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
    // Without xFetch, which version 3 brings: nothing of the file is mapped.
    index->methods.iVersion = 2;
    index->methods.xLock = index->methods.xUnlock = bs_private_lock;
    index->methods.xCheckReservedLock = bs_private_reserved;
    index->methods.xShmMap = bs_private_map;
    index->methods.xShmLock = bs_private_index_lock;
    index->methods.xShmBarrier = bs_private_barrier;
    index->methods.xShmUnmap = bs_private_unmap;
    file->pMethods = &index->methods;
}

static inline int bs_is_regular_or_absent(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) return errno == ENOENT;
    if (S_ISREG(info.st_mode)) return 1;
    // What opening it with O_NOFOLLOW says of a link, and the caller makes an unsafe path of.
    errno = ELOOP;
    return 0;
}

static inline int bs_place_of_index(const sqlite3_vfs *system) { return (system->szOsFile + 7) / 8 * 8; }

static inline int bs_open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out) {
    bs_vfs *own = (bs_vfs *)vfs;
    file->pMethods = 0;
    // Not SQLITE_CANTOPEN: SQLite takes a journal that can't be opened for one that it must roll back (pager.c, hasHotJournal).
    if (name && !bs_is_regular_or_absent(name)) return SQLITE_IOERR;
    if (name && (flags & SQLITE_OPEN_WAL)) {
        // The wal-index, which the system's VFS opens next, and by itself.
        char index[1024];
        size_t length = strlen(name);
        if (length < 4 || length >= sizeof index) return SQLITE_IOERR;
        memcpy(index, name, length + 1);
        memcpy(index + length - 4, "-shm", 4);
        if (!bs_is_regular_or_absent(index)) return SQLITE_IOERR;
        // SQLite asks for a log that it may write to and make, whatever the database is opened for.
        if (own->has_private_index)
            flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
    int rc = own->system->xOpen(own->system, name, file, flags, flags_out);
    if (rc == SQLITE_OK && own->has_private_index && (flags & SQLITE_OPEN_MAIN_DB) && file->pMethods)
        bs_make_private(file, (bs_private_index *)((char *)file + bs_place_of_index(own->system)));
    return rc;
}

// SQLite deletes the log of an empty database, of one byte say, even for a connection that only reads (pager.c,
// pagerOpenWalIfPresent).
static inline int bs_delete_nothing(sqlite3_vfs *vfs, const char *name, int sync_directory) {
    (void)vfs, (void)name, (void)sync_directory;
    return SQLITE_OK;
}

// Makes the VFS known to SQLite under `name`, which must stay valid. Never freed: SQLite keeps its address.
static inline int bs_register_vfs(const char *name, int is_for_readers, int has_private_index) {
    sqlite3_vfs *system = sqlite3_vfs_find(0);
    bs_vfs *own = system ? (bs_vfs *)calloc(1, sizeof(bs_vfs)) : 0;
    if (!own) return SQLITE_NOMEM;
    own->vfs = *system;
    own->vfs.pNext = 0;
    own->vfs.zName = name;
    own->vfs.xOpen = bs_open_file;
    if (is_for_readers) own->vfs.xDelete = bs_delete_nothing;
    own->vfs.szOsFile = bs_place_of_index(system) + (has_private_index ? (int)sizeof(bs_private_index) : 0);
    own->system = system;
    own->has_private_index = has_private_index;
    return sqlite3_vfs_register(&own->vfs, 0);
}

static inline int bs_register_vfses(void) {
    int rc = bs_register_vfs("breaker-store", 0, 0);
    if (rc == SQLITE_OK) rc = bs_register_vfs("breaker-store-reader", 1, 0);
    return rc == SQLITE_OK ? bs_register_vfs("breaker-store-private", 1, 1) : rc;
}

// MARK: - The files behind a connection

// The first page of the wal-index; its first 96 bytes are two copies of the header, which every commit changes
// (https://sqlite.org/walformat.html#the_wal_index_header). Valid as long as the connection is open.
static inline const uint64_t *bs_wal_index(sqlite3 *db) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    void volatile *page = 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &page) != SQLITE_OK) return 0;
    return (const uint64_t *)page;
}

// A mapping of our own of the same page, which outlives the connection (tried: to read the connection's own after
// sqlite3_close is a SIGSEGV); null where the system can't do that.
enum { bs_header_size = 32768 };
#ifdef __APPLE__
static inline const uint64_t *bs_map_again(const uint64_t *page) {
    mach_vm_address_t copy = 0;
    vm_prot_t now, most;
    if (mach_vm_remap(mach_task_self(), &copy, bs_header_size, 0, VM_FLAGS_ANYWHERE, mach_task_self(),
                      (mach_vm_address_t)page, 0, &now, &most, VM_INHERIT_SHARE) != KERN_SUCCESS) return 0;
    return (const uint64_t *)copy;
}
#else
// glibc declares it only with _GNU_SOURCE. An old size of 0 maps shared pages a second time (mremap(2)).
extern void *mremap(void *, size_t, size_t, int, ...);
static inline const uint64_t *bs_map_again(const uint64_t *page) {
    void *copy = mremap((void *)page, 0, bs_header_size, 1 /* MREMAP_MAYMOVE */);
    return copy == MAP_FAILED ? 0 : (const uint64_t *)copy;
}
#endif
// Puts zeros in the place of the file, for those who may still be reading. In one step: the address is never unmapped.
static inline void bs_blank(const uint64_t *page) {
    mmap((void *)page, bs_header_size, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
}
static inline void bs_unmap(const uint64_t *page) { munmap((void *)page, bs_header_size); }

// Syncs the write-ahead log: what COMMIT wrote is then on the disk.
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

// Whether the connection's path leads to another file by now, or to none. Where SQLite can't tell, it does not.
static inline int bs_has_moved(sqlite3 *db) {
    int moved = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved;
}

// Reads from the database file through SQLite: to open and close it by hand would drop this process's locks on it.
static inline int bs_read_file(sqlite3 *db, void *buffer, int count, int64_t offset) {
    sqlite3_file *file = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK) return rc;
    if (!file || !file->pMethods) return SQLITE_MISUSE;
    return file->pMethods->xRead(file, buffer, count, offset);
}

// MARK: - File systems and locks

// The file system's magic number (Linux) or, where the kernel says that it is not local (macOS), 1. -1: unknown.
static inline int64_t bs_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
#ifdef __APPLE__
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
#else
    return (int64_t)(uint32_t)info.f_type;
#endif
}

// Locks of an open file description. Darwin hides their names from programs outside the system, Linux from those that are
// built without _GNU_SOURCE, as Swift's own module of the C library is.
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

// Locks or unlocks one byte for the open file description, never waiting; 0 when done.
static inline int bs_set_lock(int descriptor, int64_t offset, int locked) {
    struct flock byte = bs_byte(offset, locked ? F_WRLCK : F_UNLCK);
    return fcntl(descriptor, F_OFD_SETLK, &byte);
}

// Whether another open file description holds one of some bytes: 1, 0, or -1 where the kernel would not say.
static inline int bs_is_any_locked(int descriptor, int64_t offset, int64_t count) {
    struct flock bytes = bs_byte(offset, F_WRLCK);
    bytes.l_len = count;
    if (fcntl(descriptor, F_OFD_GETLK, &bytes) != 0) return -1;
    return bytes.l_type != F_UNLCK;
}
static inline int bs_is_locked(int descriptor, int64_t offset) { return bs_is_any_locked(descriptor, offset, 1); }

// MARK: - The header of the wal-index

enum { bs_words = 12 };
typedef struct { uint64_t words[bs_words]; } bs_tag;

static inline bs_tag bs_read_tag(const uint64_t *page) {
    bs_tag tag;
    for (int i = 0; i < bs_words; i++) tag.words[i] = __atomic_load_n(&page[i], __ATOMIC_ACQUIRE);
    // What is read from the file from here on is at least as new as the tag.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return tag;
}

// Whether an unchanged header proves an unchanged file: both copies alike, of the known version, initialised, and of a
// log that has been written to.
static inline int bs_tag_counts(const bs_tag *tag) {
    uint32_t field[12];
    memcpy(field, tag->words, sizeof field);
    return memcmp(tag->words, tag->words + 6, 48) == 0 && field[0] == 3007000
        && ((const uint8_t *)field)[12] == 1 && (field[8] != 0 || field[9] != 0);
}

// Frames in the log, and how many of them have been copied into the database (the word behind the header copies).
static inline uint32_t bs_frames(const uint64_t *page) {
    return __atomic_load_n((const uint32_t *)page + 4, __ATOMIC_ACQUIRE);
}
static inline uint32_t bs_backfilled_frames(const uint64_t *page) {
    return __atomic_load_n((const uint32_t *)page + 24, __ATOMIC_ACQUIRE);
}

// MARK: - This process

enum { bs_most_descriptors = 1024 };

// What a fork's child must know. One for the process, never freed.
typedef struct {
    uint64_t forks;
    int64_t forked_at;  // seconds since 1970, of the last of them
    int32_t descriptors[bs_most_descriptors];  // of lock files, + 1; 0 is a free place
} bs_process;

static inline bs_process *bs_process_new(void) { return (bs_process *)calloc(1, sizeof(bs_process)); }

static inline uint64_t bs_forks(const bs_process *process) {
    return __atomic_load_n(&process->forks, __ATOMIC_RELAXED);
}

static inline int64_t bs_forked_at(const bs_process *process) {
    return __atomic_load_n(&process->forked_at, __ATOMIC_RELAXED);
}

// In the child: a lock taken before the fork belongs to both, until the child closes the descriptor. Async-signal-safe.
static inline void bs_forked(bs_process *process) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    __atomic_store_n(&process->forked_at, (int64_t)now.tv_sec, __ATOMIC_RELAXED);
    __atomic_fetch_add(&process->forks, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < bs_most_descriptors; i++) {
        int32_t entry = __atomic_exchange_n(&process->descriptors[i], 0, __ATOMIC_SEQ_CST);
        if (entry > 0) close(entry - 1);
    }
}

// Notes a descriptor that a child must close; 0 if there is no place left.
static inline int bs_note_descriptor(bs_process *process, int descriptor) {
    for (int i = 0; i < bs_most_descriptors; i++) {
        int32_t none = 0;
        if (__atomic_compare_exchange_n(&process->descriptors[i], &none, descriptor + 1, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
    }
    return 0;
}
// Whether it was noted: in a fork's child it is not, and is closed already.
static inline int bs_drop_descriptor(bs_process *process, int descriptor) {
    for (int i = 0; i < bs_most_descriptors; i++) {
        int32_t entry = descriptor + 1;
        if (__atomic_compare_exchange_n(&process->descriptors[i], &entry, 0, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
    }
    return 0;
}

// MARK: - The cached answer

// Which header the answers of a store are held against. `page` is null while no answer counts; a mapping that was once
// published is kept until the gate is freed.
typedef struct {
    const uint64_t *page;
    uint64_t generation;  // rises with each opening, so that no answer outlives its file
    uint64_t forks;
    const bs_process *process;
} bs_gate;

// An answer, the header that it was read under, and the sequence that tells a reader of a write in between: a seqlock of
// relaxed atomics. One writer at a time.
typedef struct {
    uint64_t sequence, verdict, epoch, until, generation;
    uint64_t tag[bs_words];
} bs_slot;

typedef struct { uint64_t verdict, epoch, until; } bs_answer;  // verdict 0: none

static inline bs_gate *bs_gate_new(const bs_process *process) {
    void *gate = 0;
    if (posix_memalign(&gate, 128, sizeof(bs_gate))) abort();
    memset(gate, 0, sizeof(bs_gate));
    ((bs_gate *)gate)->process = process;
    ((bs_gate *)gate)->forks = bs_forks(process);
    return (bs_gate *)gate;
}

static inline bs_slot *bs_slot_new(void) {
    void *slot = 0;
    if (posix_memalign(&slot, 128, sizeof(bs_slot))) abort();
    memset(slot, 0, sizeof(bs_slot));
    return (bs_slot *)slot;
}

static inline int bs_gate_forked(const bs_gate *gate) { return gate->forks != bs_forks(gate->process); }

static inline const uint64_t *bs_gate_page(const bs_gate *gate) {
    return __atomic_load_n(&gate->page, __ATOMIC_ACQUIRE);
}
static inline uint64_t bs_gate_generation(const bs_gate *gate) {
    return __atomic_load_n(&gate->generation, __ATOMIC_ACQUIRE);
}

// Opens the gate to a mapping, or shuts it (null).
static inline void bs_gate_set(bs_gate *gate, const uint64_t *page, uint64_t generation) {
    __atomic_store_n(&gate->page, (const uint64_t *)0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->generation, generation, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->page, page, __ATOMIC_SEQ_CST);
}

// The answer, if the header is still the one it was read under.
static inline bs_answer bs_ask(const bs_slot *slot, const bs_gate *gate) {
    bs_answer none = {0, 0, 0};
    const uint64_t *page = __atomic_load_n(&gate->page, __ATOMIC_ACQUIRE);
    if (!page || gate->forks != __atomic_load_n(&gate->process->forks, __ATOMIC_RELAXED)) return none;
    uint64_t sequence = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
    if (sequence & 1) return none;
    uint64_t differs = __atomic_load_n(&gate->generation, __ATOMIC_ACQUIRE)
        ^ __atomic_load_n(&slot->generation, __ATOMIC_RELAXED);
    for (int i = 0; i < bs_words; i++)
        differs |= __atomic_load_n(&page[i], __ATOMIC_ACQUIRE) ^ __atomic_load_n(&slot->tag[i], __ATOMIC_RELAXED);
    bs_answer answer = {
        __atomic_load_n(&slot->verdict, __ATOMIC_RELAXED),
        __atomic_load_n(&slot->epoch, __ATOMIC_RELAXED),
        __atomic_load_n(&slot->until, __ATOMIC_RELAXED),
    };
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (differs | (__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) ^ sequence)) return none;
    return answer;
}

static inline void bs_publish(bs_slot *slot, const bs_tag *tag, uint64_t generation, bs_answer answer) {
    uint64_t sequence = __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->sequence, sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (int i = 0; i < bs_words; i++) __atomic_store_n(&slot->tag[i], tag->words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&slot->generation, generation, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->verdict, answer.verdict, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->epoch, answer.epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->until, answer.until, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
}
