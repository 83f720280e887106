// swift-format-ignore-file
// Rows of sqlite_schema as netstrings; written by SchemaVersionTests with BREAKERSTORE_WRITE_SCHEMA.

let schemaMade = """
5:table,5:clock,5:clock,560:CREATE TABLE clock (
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
) STRICT,
5:table,7:circuit,7:circuit,2048:CREATE TABLE circuit (
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
) STRICT,
5:table,15:sqlite_sequence,15:sqlite_sequence,38:CREATE TABLE sqlite_sequence(name,seq),
5:table,8:counters,8:counters,286:CREATE TABLE counters (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    slow INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (circuit, board)
) STRICT, WITHOUT ROWID,
5:table,7:command,7:command,658:CREATE TABLE command (
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
) STRICT, WITHOUT ROWID,
5:table,11:predecessor,11:predecessor,794:CREATE TABLE predecessor (
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
) STRICT,
5:table,7:failure,7:failure,209:CREATE TABLE failure (
    circuit INTEGER NOT NULL,
    at INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (circuit, at, worker, sequence)
) STRICT, WITHOUT ROWID,
5:table,5:probe,5:probe,309:CREATE TABLE probe (
    circuit INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    -- Of the worker, whose row may be gone.
    worker_name TEXT,
    pid INTEGER,
    since INTEGER NOT NULL,
    lease_ends INTEGER NOT NULL,
    PRIMARY KEY (circuit, token)
) STRICT, WITHOUT ROWID,
5:table,6:worker,6:worker,210:CREATE TABLE worker (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    -- The release of the library that it runs.
    version TEXT,
    since INTEGER NOT NULL
) STRICT,
5:table,12:registration,12:registration,144:CREATE TABLE registration (
    worker INTEGER NOT NULL,
    circuit INTEGER NOT NULL,
    PRIMARY KEY (worker, circuit)
) STRICT, WITHOUT ROWID,
5:index,23:registration_by_circuit,12:registration,70:CREATE INDEX registration_by_circuit ON registration (circuit, worker),
5:table,8:duration,8:duration,203:CREATE TABLE duration (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, board, bucket)
) STRICT, WITHOUT ROWID,
5:table,10:transition,10:transition,163:CREATE TABLE transition (
    circuit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, kind)
) STRICT, WITHOUT ROWID,
5:table,5:event,5:event,428:CREATE TABLE event (
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
) STRICT,
5:index,16:event_by_circuit,5:event,52:CREATE INDEX event_by_circuit ON event (circuit, id),

"""
