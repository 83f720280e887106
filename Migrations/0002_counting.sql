-- Counting, and what joining hosts needs. Programs of schema 1.0 go on with the file: they fill in none of this, and
-- each column here says how a newer program notices what an older one has done.

-- A number that no other file has, so that counts of one file never reach another.
ALTER TABLE clock ADD COLUMN birth INTEGER;
-- The wall clock, in microseconds of Unix time, as it was at store time wall_at.
ALTER TABLE clock ADD COLUMN wall INTEGER;
ALTER TABLE clock ADD COLUMN wall_at INTEGER;
-- The newest store time that a program has written which counts the failures. With another `highest`, a program has
-- written since that does not.
ALTER TABLE clock ADD COLUMN counted_to INTEGER;
-- Rises each time that such a writer was noticed: counts of an earlier number say nothing.
ALTER TABLE clock ADD COLUMN counting INTEGER;

-- A number that no other circuit has, of this name or another.
ALTER TABLE circuit ADD COLUMN birth INTEGER;
-- So many rows of the table `failure` are not older than failures_since (of any age, where that is null) and not newer
-- than failures_to; true while `counting` is the clock's. Null where there are so few rows that counting them is quick.
ALTER TABLE circuit ADD COLUMN failures INTEGER;
ALTER TABLE circuit ADD COLUMN failures_since INTEGER;
ALTER TABLE circuit ADD COLUMN failures_to INTEGER;
ALTER TABLE circuit ADD COLUMN counting INTEGER;
-- The columns from here to observed_successes belong to this epoch; with another one they say nothing.
ALTER TABLE circuit ADD COLUMN state_of INTEGER;
-- When the circuit tripped first since it was closed.
ALTER TABLE circuit ADD COLUMN outage_since INTEGER;
-- An observing circuit is closed to programs of schema 1.0; this is its state.
ALTER TABLE circuit ADD COLUMN observed_state TEXT;
ALTER TABLE circuit ADD COLUMN observed_until INTEGER;
ALTER TABLE circuit ADD COLUMN observed_successes INTEGER;
-- What programs of schema 1.0 do not know of a config. It is in force while the columns that they know are those of
-- which this is the fingerprint.
ALTER TABLE circuit ADD COLUMN rules_of INTEGER;
ALTER TABLE circuit ADD COLUMN mode TEXT;
ALTER TABLE circuit ADD COLUMN rule TEXT;
ALTER TABLE circuit ADD COLUMN rule_count INTEGER;
ALTER TABLE circuit ADD COLUMN rule_window INTEGER;
ALTER TABLE circuit ADD COLUMN rule_share REAL;
ALTER TABLE circuit ADD COLUMN slow_threshold INTEGER;
ALTER TABLE circuit ADD COLUMN slow_share REAL;
ALTER TABLE circuit ADD COLUMN slow_count INTEGER;
ALTER TABLE circuit ADD COLUMN slow_window INTEGER;

-- How many calls of a circuit one board has counted; the totals are the sums over the boards.
CREATE TABLE tally (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    slow INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (circuit, board)
) STRICT, WITHOUT ROWID;

-- How many of them took how long, where that was measured: buckets 0 to 15, and the sum of all in microseconds as 16.
CREATE TABLE duration (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, board, bucket)
) STRICT, WITHOUT ROWID;

-- How many events of a kind a circuit has had; the history keeps only the newest.
CREATE TABLE transition (
    circuit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, kind)
) STRICT, WITHOUT ROWID;

-- What a fleet of hosts has decided about a circuit.
CREATE TABLE fleet (
    circuit INTEGER NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    -- The epoch that the fleet's last order made here.
    epoch INTEGER,
    -- Until when the fleet has the circuit open.
    open_until INTEGER,
    -- The newest of the circuit's events that the fleet has been told.
    told INTEGER NOT NULL
) STRICT;

-- How this file is joined to a fleet. At most one row.
CREATE TABLE link (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    fleet TEXT NOT NULL,
    host TEXT NOT NULL,
    worker INTEGER,
    since INTEGER NOT NULL,
    heard INTEGER
) STRICT;
