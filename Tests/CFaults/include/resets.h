#ifndef RESETS_H
#define RESETS_H

// Another program that commits at the worst moments of a checkpoint (https://sqlite.org/wal.html#walresetbug), on the
// checkpoint's own thread, so that it is always the same schedule. For one checkpoint at a time.

/// Watches the databases that are opened from now on; once, before the first. Returns 0, or SQLite's error.
int resets_install(void);

/// Opens the other program's connection, which checkpoints by itself whenever it has committed anything, as SQLite does
/// after 1,000 frames, and waits for nobody. Returns 0, or SQLite's error.
int resets_open(const char *path);

/// Runs statements there; returns SQLite's code.
int resets_run(const char *sql);

void resets_close(void);

/// The other program runs `before` when the next checkpoint is about to begin, and `inside` once that has read how long
/// the log is, which it reads if that has changed: else with the checkpoint after it. Both must stay readable.
void resets_arm(const char *before, const char *inside);

struct resets_codes {
    int before;
    int inside;
};

/// What SQLite said to the other program at the two moments; -1 where it did not come to that.
struct resets_codes resets_codes(void);

#endif
