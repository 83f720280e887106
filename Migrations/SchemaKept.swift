// swift-format-ignore-file
// The tables of schema 3 that are the same as in schema 2.
// SQLite gets this text byte for byte.

let schemaKept = """
-- The tables of schema 3.0 that are the same, byte for byte, as in schema 2: a migration leaves them as they are. A
-- stretch is what is called a window generation elsewhere.

-- The failures that count, each with the key of its report: a report that is applied twice counts once.
CREATE TABLE failure (
    circuit INTEGER NOT NULL,
    at INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (circuit, at, worker, sequence)
) STRICT, WITHOUT ROWID;

-- The slots of the half-open state.
CREATE TABLE probe (
    circuit INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    -- Of the worker, whose row may be gone.
    worker_name TEXT,
    pid INTEGER,
    since INTEGER NOT NULL,
    lease_ends INTEGER NOT NULL,
    PRIMARY KEY (circuit, token)
) STRICT, WITHOUT ROWID;

-- The workers: processes of this host that have the store open. One lives as long as byte `id` of the lock file is
-- locked.
CREATE TABLE worker (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    -- The release of the library that it runs.
    version TEXT,
    since INTEGER NOT NULL
) STRICT;

-- Which worker has registered which circuit.
CREATE TABLE registration (
    worker INTEGER NOT NULL,
    circuit INTEGER NOT NULL,
    PRIMARY KEY (worker, circuit)
) STRICT, WITHOUT ROWID;

CREATE INDEX registration_by_circuit ON registration (circuit, worker);

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

-- The history.
CREATE TABLE event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    circuit TEXT,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    was TEXT,
    becomes TEXT,
    reason TEXT,
    -- Whose slot, or whose hold, it was.
    subject TEXT,
    -- The calls of the stretch that this event ends.
    failed INTEGER,
    refused INTEGER,
    worker INTEGER,
    worker_name TEXT,
    pid INTEGER,
    operator TEXT
) STRICT;

CREATE INDEX event_by_circuit ON event (circuit, id);

"""
