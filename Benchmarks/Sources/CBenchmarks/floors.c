// What is measured against: the least that SQLite itself takes, written in C. Do not tune it: it is fixed, so that
// figures of different days can be compared.
#include "CBenchmarks.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { begin, look, insert, update, commit, statements };

struct bb_floor {
    sqlite3 *database;
    sqlite3_stmt *statement[statements];
    int circuits;
    int64_t made;
    // Tells the rows of processes that share the file apart.
    int worker;
};

static const char *const texts[statements] = {
    "BEGIN IMMEDIATE",
    "SELECT rules, state, since, epoch, last_error FROM circuit WHERE name = ?1",
    "INSERT INTO failure (circuit, at, worker, sequence) VALUES (?1, ?2, ?3, ?4)",
    "UPDATE circuit SET since = ?2, last_error = ?3 WHERE id = ?1",
    "COMMIT",
};

// The pragmas of a store's connection.
static const char *const pragmas =
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL;"
    "PRAGMA journal_size_limit = -1; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;";

// A row as a registration with the default rules writes it.
static const char *const row =
    "INSERT INTO circuit (name, incarnation, mode, rules, state, since, epoch, window_generation, successes, trips,"
    " registered) VALUES ('circuit-' || ?1, ?1, 'enforcing', '{\"minimumReporters\":1,\"probes\":{"
    "\"leaseMicroseconds\":30000000,\"limit\":1,\"successesToClose\":1},\"recovery\":{\"capMicroseconds\":600000000,"
    "\"jitter\":0,\"multiplier\":1,\"timeoutMicroseconds\":30000000},\"trip\":{\"count\":5,\"rule\":\"failures\","
    "\"windowMicroseconds\":60000000}}', 'closed', 1700000000000000, 1700000000000000, 1, 0, 0, 1700000000000000)";

static int run(sqlite3_stmt *statement) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {}
    (void)sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

static int add_circuits(sqlite3 *database, int count) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, row, -1, &statement, NULL) != SQLITE_OK) return -1;
    int failed = 0;
    for (int i = 1; i <= count && !failed; i++) {
        sqlite3_bind_int(statement, 1, i);
        failed = run(statement);
    }
    sqlite3_finalize(statement);
    return failed;
}

static int copy_schema(sqlite3 *database, const char *model) {
    sqlite3 *source = NULL;
    sqlite3_stmt *statement = NULL;
    int failed = sqlite3_open_v2(model, &source, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(
            source, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid", -1,
            &statement, NULL) != SQLITE_OK;
    while (!failed && sqlite3_step(statement) == SQLITE_ROW)
        failed = sqlite3_exec(database, (const char *)sqlite3_column_text(statement, 0), NULL, NULL, NULL) != SQLITE_OK;
    sqlite3_finalize(statement);
    sqlite3_close(source);
    return failed;
}

bb_floor *bb_floor_open(const char *path, const char *model, int circuits) {
    bb_floor *floor = calloc(1, sizeof *floor);
    if (!floor) return NULL;
    floor->circuits = circuits;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int failed = sqlite3_open_v2(path, &floor->database, flags, NULL) != SQLITE_OK
        || sqlite3_exec(floor->database, pragmas, NULL, NULL, NULL) != SQLITE_OK
        || (model && (copy_schema(floor->database, model) != 0 || add_circuits(floor->database, circuits) != 0));
    for (int i = 0; i < statements && !failed; i++)
        failed = sqlite3_prepare_v3(
            floor->database, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &floor->statement[i], NULL) != SQLITE_OK;
    if (failed) {
        bb_floor_close(floor);
        return NULL;
    }
    if (model) bb_floor_checkpoint(floor);
    return floor;
}

// Waits as a store does: for a random time below half a millisecond. SQLite's own handler sleeps up to 100 ms, and lets
// one process run alone meanwhile.
static int wait_shortly(void *unused, int count) {
    (void)unused;
    struct timespec pause = {0, 20000 + random() % 480000};
    nanosleep(&pause, NULL);
    return count < 240000;
}

int bb_floor_share(bb_floor *floor, int worker) {
    floor->worker = worker;
    srandom((unsigned)worker);
    return sqlite3_busy_handler(floor->database, wait_shortly, NULL) != SQLITE_OK
        || sqlite3_wal_autocheckpoint(floor->database, 1000) != SQLITE_OK;
}

static int fail_once(bb_floor *floor) {
    int64_t made = ++floor->made;
    int64_t circuit = made % floor->circuits + 1;
    char name[32];
    int length = snprintf(name, sizeof name, "circuit-%lld", (long long)circuit);
    if (run(floor->statement[begin]) != 0) return -1;
    sqlite3_bind_text(floor->statement[look], 1, name, length, SQLITE_TRANSIENT);
    if (run(floor->statement[look]) != 0) return -1;
    sqlite3_bind_int64(floor->statement[insert], 1, circuit);
    sqlite3_bind_int64(floor->statement[insert], 2, 1700000000000000 + made * 50);
    sqlite3_bind_int64(floor->statement[insert], 3, 1234567890123456789 + floor->worker);
    sqlite3_bind_int64(floor->statement[insert], 4, made);
    if (run(floor->statement[insert]) != 0) return -1;
    sqlite3_bind_int64(floor->statement[update], 1, circuit);
    sqlite3_bind_int64(floor->statement[update], 2, 1700000000000000 + made * 50);
    sqlite3_bind_text(floor->statement[update], 3, "ServiceError", 12, SQLITE_STATIC);
    if (run(floor->statement[update]) != 0) return -1;
    // A store looks at the circuit once more after its commit: so the next healthy call has its answer.
    return run(floor->statement[commit]) || run(floor->statement[look]);
}

int64_t bb_floor_fail(bb_floor *floor, int count) {
    uint64_t start = bb_nanoseconds();
    for (int i = 0; i < count; i++)
        if (fail_once(floor) != 0) return -1;
    return (int64_t)(bb_nanoseconds() - start);
}

static int insert_failure(bb_floor *floor, int64_t circuit) {
    int64_t made = ++floor->made;
    sqlite3_bind_int64(floor->statement[insert], 1, circuit);
    sqlite3_bind_int64(floor->statement[insert], 2, 1700000000000000 + made * 50);
    sqlite3_bind_int64(floor->statement[insert], 3, 1234567890123456789 + floor->worker);
    sqlite3_bind_int64(floor->statement[insert], 4, made);
    return run(floor->statement[insert]);
}

static int select_row(bb_floor *floor) {
    sqlite3_bind_text(floor->statement[look], 1, "circuit-1", 9, SQLITE_STATIC);
    return run(floor->statement[look]);
}

int bb_floor_fill(bb_floor *floor, int count) {
    int failed = run(floor->statement[begin]);
    for (int i = 0; i < count && !failed; i++) failed = insert_failure(floor, 1);
    return failed || run(floor->statement[commit]);
}

int bb_floor_note(bb_floor *floor, int count) {
    char text[80];
    snprintf(text, sizeof text, "UPDATE circuit SET failure_count = %d WHERE id = 1", count);
    return sqlite3_exec(floor->database, text, NULL, NULL, NULL);
}

int64_t bb_floor_fail_batch(bb_floor *floor, int count) {
    uint64_t start = bb_nanoseconds();
    int failed = run(floor->statement[begin]) || select_row(floor);
    for (int i = 0; i < count && !failed; i++) failed = insert_failure(floor, 1);
    failed = failed || run(floor->statement[commit]) || select_row(floor);
    return failed ? -1 : (int64_t)(bb_nanoseconds() - start);
}

int64_t bb_floor_look(bb_floor *floor) {
    uint64_t start = bb_nanoseconds();
    return select_row(floor) != 0 ? -1 : (int64_t)(bb_nanoseconds() - start);
}

struct bb_other {
    sqlite3 *database;
    sqlite3_stmt *statement;
};

bb_other *bb_other_open(const char *path) {
    bb_other *other = calloc(1, sizeof *other);
    if (!other) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_open_v2(path, &other->database, flags, NULL) == SQLITE_OK
        && sqlite3_db_config(other->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK
        && sqlite3_busy_timeout(other->database, 1000) == SQLITE_OK
        && sqlite3_exec(other->database, pragmas, NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v2(
            other->database, "UPDATE circuit SET registered = registered + 1 WHERE id = 1", -1, &other->statement, NULL)
            == SQLITE_OK)
        return other;
    bb_other_close(other);
    return NULL;
}

int bb_other_commit(bb_other *other) { return run(other->statement); }

void bb_other_close(bb_other *other) {
    sqlite3_finalize(other->statement);
    sqlite3_close(other->database);
    free(other);
}

void bb_floor_checkpoint(bb_floor *floor) {
    (void)sqlite3_wal_checkpoint_v2(floor->database, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    // The first commit into a log that starts over syncs its header: not in what is measured.
    (void)fail_once(floor);
}

void bb_floor_close(bb_floor *floor) {
    for (int i = 0; i < statements; i++) sqlite3_finalize(floor->statement[i]);
    sqlite3_close(floor->database);
    free(floor);
}

enum { reserved_pages = 256 };

static int reserve(sqlite3 *database) {
    int failed = sqlite3_exec(
        database, "BEGIN IMMEDIATE; CREATE TABLE reserve (filler BLOB NOT NULL) STRICT;"
        "INSERT INTO reserve VALUES (zeroblob(4096))", NULL, NULL, NULL) != SQLITE_OK;
    for (int pages = 1; pages < reserved_pages && !failed; pages *= 2)
        failed = sqlite3_exec(database, "INSERT INTO reserve SELECT filler FROM reserve", NULL, NULL, NULL) != SQLITE_OK;
    return failed || sqlite3_exec(
        database, "COMMIT; BEGIN IMMEDIATE; DROP TABLE reserve; COMMIT; PRAGMA wal_checkpoint", NULL, NULL, NULL) != SQLITE_OK;
}

int64_t bb_floor_create(const char *path, const char *model) {
    sqlite3 *database = NULL, *reader = NULL;
    uint64_t start = bb_nanoseconds();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int failed = sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK
        || sqlite3_exec(database, pragmas, NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_exec(database, "PRAGMA synchronous = OFF; BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK
        || copy_schema(database, model) != 0
        || sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_open_v2(path, &reader, flags, NULL) != SQLITE_OK
        || sqlite3_exec(reader, pragmas, NULL, NULL, NULL) != SQLITE_OK
        || reserve(database) != 0
        || sqlite3_exec(reader, "SELECT count(*) FROM clock", NULL, NULL, NULL) != SQLITE_OK;
    int64_t took = (int64_t)(bb_nanoseconds() - start);
    sqlite3_close(reader);
    sqlite3_close(database);
    return failed ? -1 : took;
}

int64_t bb_floor_connect(const char *path) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    uint64_t start = bb_nanoseconds();
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return -1;
    if (sqlite3_prepare_v2(database, texts[look], -1, &statement, NULL) != SQLITE_OK) return -1;
    sqlite3_bind_text(statement, 1, "opening", 7, SQLITE_STATIC);
    int found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_reset(statement);
    int64_t took = (int64_t)(bb_nanoseconds() - start);
    sqlite3_finalize(statement);
    return found ? took : -1;
}

int bb_begin_log(const char *path) {
    sqlite3 *database = NULL;
    // The first commit after a full checkpoint begins the log anew, and syncs its header. A value that stays the same
    // would write nothing.
    int failed = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK
        || sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK
        || sqlite3_busy_timeout(database, 1000) != SQLITE_OK
        || sqlite3_exec(database, pragmas, NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_exec(database, "PRAGMA wal_checkpoint; UPDATE clock SET reserved = reserved + 1", NULL, NULL, NULL)
            != SQLITE_OK;
    sqlite3_close(database);
    return failed ? -1 : 0;
}
