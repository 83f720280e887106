// swift-format-ignore-file
// The tables of schema 3 that are new or changed since schema 2; `schemaKept` has the others.
// SQLite gets this text byte for byte.

let schema = """
-- The tables that are new or changed since schema 2. A new file is created from this text and schemaKept, and
-- workers compare a file with them byte for byte. All times are whole microseconds; stamps are store time, which is the
-- uptime of this boot + clock.offset.

-- The file's clock. One row.
CREATE TABLE clock (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    offset INTEGER NOT NULL,
    -- No stamp is later.
    reserved INTEGER NOT NULL,
    -- A new circuit starts at this epoch or above: no forgotten one is ever repeated.
    epoch_floor INTEGER NOT NULL,
    -- A number that no other file has, so that counts of one file never reach another.
    incarnation INTEGER NOT NULL,
    -- What the wall clock said, in Unix time, at store time wall_at.
    wall INTEGER NOT NULL,
    wall_at INTEGER NOT NULL
) STRICT;

CREATE TABLE circuit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    -- A number that no other circuit has, of this name or another.
    incarnation INTEGER NOT NULL,
    -- When a worker last registered it, or when a worker that had registered it was found dead.
    registered INTEGER NOT NULL,
    group_name TEXT,
    mode TEXT NOT NULL,
    -- The other rules that a process has registered: a JSON object, see docs/store-format.md.
    rules TEXT NOT NULL,
    -- The state. Each transition begins a new epoch and a new window generation.
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    window_generation INTEGER NOT NULL,
    open_until INTEGER CHECK (state <> 'open' OR open_until IS NOT NULL),
    successes INTEGER NOT NULL CHECK (successes >= 0),
    -- How many probes have failed in this half-open state.
    probe_failures INTEGER NOT NULL DEFAULT 0 CHECK (probe_failures >= 0),
    trips INTEGER NOT NULL CHECK (trips >= 0),
    forgotten_until INTEGER,
    -- When it last started over: an outage that a call before that declares is not believed.
    cleared_at INTEGER,
    last_error TEXT,
    -- How many calls had failed and had been refused when this window generation began.
    generation_failed INTEGER,
    generation_refused INTEGER,
    -- The outage: from the first trip since the circuit was closed. Null while it is closed.
    outage_since INTEGER,
    outage_failed INTEGER,
    outage_refused INTEGER,
    trip_reason TEXT,
    trip_failed INTEGER,
    trip_calls INTEGER,
    -- An operator's hold, which overrides the state.
    hold TEXT,
    hold_since INTEGER CHECK ((hold IS NULL) = (hold_since IS NULL)),
    hold_until INTEGER,
    hold_by TEXT,
    hold_reason TEXT,
    -- How many rows of `failure` are not older than failures_since; null: they must be counted. Older rows never count,
    -- and are deleted little by little.
    failure_count INTEGER,
    failures_since INTEGER
) STRICT;

-- How many calls of a circuit one board has counted; the totals are the sums over the boards.
CREATE TABLE counters (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    slow INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (circuit, board)
) STRICT, WITHOUT ROWID;

-- The newest command of each kind that operators gave for a circuit: a hold or its release, a reset, a probe. A link
-- sends them to the other hosts.
CREATE TABLE command (
    circuit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- No two commands have the same.
    number INTEGER NOT NULL,
    -- A Lamport timestamp, based on the clock of the fleet's server; null until a link has sent the command.
    lamport_time INTEGER,
    -- The newest lamport_time that this host knew when the command was given.
    floor INTEGER NOT NULL,
    -- When the command was given, in store time.
    at INTEGER NOT NULL,
    -- 'open', 'closed', or null for a release and for other kinds.
    hold TEXT,
    hold_for INTEGER,
    operator TEXT,
    reason TEXT,
    PRIMARY KEY (circuit, kind)
) STRICT, WITHOUT ROWID;

-- What was known of a lost file in whose place this file was created.
CREATE TABLE predecessor (
    -- The circuit; 0 for the file itself, whose row is written at its creation.
    circuit INTEGER NOT NULL PRIMARY KEY,
    -- The clock.incarnation of the lost file; null: no worker knows of one.
    incarnation INTEGER,
    -- The circuit's epoch in the lost file, and its epoch here just after that was written: with another epoch, it has
    -- been changed since.
    epoch INTEGER,
    epoch_here INTEGER,
    -- Whether a hold and an open state were restored.
    restored_hold INTEGER NOT NULL,
    restored_open INTEGER NOT NULL,
    -- When a worker last saw the lost file in its place; of the file itself, when it was created.
    at INTEGER NOT NULL,
    -- Of the file itself: FNV-1a of the path at which it was created.
    path_hash INTEGER
) STRICT;

"""
