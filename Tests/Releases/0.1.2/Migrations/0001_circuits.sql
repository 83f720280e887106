-- The file's clock: store time = uptime of this boot + offset, all in microseconds. One row.
CREATE TABLE clock (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    offset INTEGER NOT NULL,
    -- No event is later; store time is never below it.
    highest INTEGER NOT NULL,
    -- A new circuit starts at this epoch or above: no forgotten one is ever repeated.
    epoch_floor INTEGER NOT NULL
) STRICT;

CREATE TABLE circuit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    label TEXT,
    trip_rule TEXT NOT NULL,
    trip_count INTEGER NOT NULL CHECK (trip_count > 0),
    trip_window INTEGER NOT NULL CHECK (trip_window >= 0),
    recovery INTEGER NOT NULL CHECK (recovery > 0),
    recovery_multiplier REAL NOT NULL CHECK (recovery_multiplier >= 1),
    recovery_cap INTEGER NOT NULL CHECK (recovery_cap > 0),
    recovery_jitter REAL NOT NULL CHECK (recovery_jitter BETWEEN 0 AND 1),
    probe_limit INTEGER NOT NULL CHECK (probe_limit > 0),
    probe_successes INTEGER NOT NULL CHECK (probe_successes > 0),
    probe_lease INTEGER NOT NULL CHECK (probe_lease > 0),
    minimum_reporters INTEGER NOT NULL CHECK (minimum_reporters > 0),
    state TEXT NOT NULL CHECK (state IN ('closed', 'open', 'half-open')),
    since INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    open_until INTEGER CHECK ((state = 'open') = (open_until IS NOT NULL)),
    successes INTEGER NOT NULL CHECK (successes >= 0),
    trips INTEGER NOT NULL CHECK (trips >= 0),
    forgotten_until INTEGER,
    last_error TEXT,
    hold TEXT CHECK (hold IN ('open', 'closed')),
    hold_since INTEGER CHECK ((hold IS NULL) = (hold_since IS NULL)),
    hold_until INTEGER,
    hold_by TEXT,
    hold_reason TEXT,
    refusals INTEGER NOT NULL DEFAULT 0 CHECK (refusals >= 0),
    registered INTEGER NOT NULL
) STRICT;

-- The failures that count, each with the key of its report: what is applied twice counts once.
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
    since INTEGER NOT NULL,
    lease_ends INTEGER NOT NULL,
    PRIMARY KEY (circuit, token)
) STRICT, WITHOUT ROWID;

-- The open stores of this host's processes. One lives as long as byte `id` of the lock file is locked.
CREATE TABLE worker (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    since INTEGER NOT NULL
) STRICT;

-- Which worker has registered which circuit.
CREATE TABLE registration (
    worker INTEGER NOT NULL,
    circuit INTEGER NOT NULL,
    PRIMARY KEY (worker, circuit)
) STRICT, WITHOUT ROWID;

CREATE INDEX registration_by_circuit ON registration (circuit, worker);

CREATE TABLE event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    circuit TEXT,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    was TEXT,
    becomes TEXT,
    reason TEXT,
    worker INTEGER,
    worker_name TEXT,
    pid INTEGER,
    operator TEXT
) STRICT;

CREATE INDEX event_by_circuit ON event (circuit, id);
