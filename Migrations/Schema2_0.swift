// swift-format-ignore-file
// The tables of schema 2.0 that have changed since; `schemaKept` has the others.
// SQLite gets this text byte for byte.

let schema2_0 = """
-- The tables of schema 2.0 that have changed since; schemaKept has the others.

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
    birth INTEGER NOT NULL,
    -- What the wall clock said, in Unix time, at store time wall_at.
    wall INTEGER NOT NULL,
    wall_at INTEGER NOT NULL
) STRICT;

CREATE TABLE circuit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    -- A number that no other circuit has, of this name or another.
    birth INTEGER NOT NULL,
    -- When a worker last registered it, or was found gone that had.
    registered INTEGER NOT NULL,
    -- The rules, as a process has registered them.
    label TEXT,
    mode TEXT NOT NULL,
    rule TEXT NOT NULL,
    rule_count INTEGER NOT NULL CHECK (rule_count > 0),
    rule_window INTEGER NOT NULL CHECK (rule_window >= 0),
    rule_share REAL,
    slow_threshold INTEGER,
    slow_share REAL,
    slow_count INTEGER,
    slow_window INTEGER,
    recovery INTEGER NOT NULL CHECK (recovery > 0),
    recovery_multiplier REAL NOT NULL CHECK (recovery_multiplier >= 1),
    recovery_cap INTEGER NOT NULL CHECK (recovery_cap > 0),
    recovery_jitter REAL NOT NULL CHECK (recovery_jitter BETWEEN 0 AND 1),
    -- The most that a service's own word may ask for.
    outage_cap INTEGER NOT NULL CHECK (outage_cap > 0),
    probe_limit INTEGER NOT NULL CHECK (probe_limit > 0),
    probe_successes INTEGER NOT NULL CHECK (probe_successes > 0),
    probe_lease INTEGER NOT NULL CHECK (probe_lease > 0),
    minimum_reporters INTEGER NOT NULL CHECK (minimum_reporters > 0),
    -- The state. A stretch is what lies between two transitions.
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    stretch INTEGER NOT NULL,
    open_until INTEGER CHECK (state <> 'open' OR open_until IS NOT NULL),
    successes INTEGER NOT NULL CHECK (successes >= 0),
    trips INTEGER NOT NULL CHECK (trips >= 0),
    forgotten_until INTEGER,
    last_error TEXT,
    -- What the calls that failed and were refused came to when this stretch began.
    stretch_failed INTEGER,
    stretch_refused INTEGER,
    -- The outage: from the first trip since the circuit was closed. Null while it is closed.
    outage_since INTEGER,
    outage_failed INTEGER,
    outage_refused INTEGER,
    trip_reason TEXT,
    trip_failed INTEGER,
    trip_calls INTEGER,
    -- An operator's word, which covers the state.
    hold TEXT,
    hold_since INTEGER CHECK ((hold IS NULL) = (hold_since IS NULL)),
    hold_until INTEGER,
    hold_by TEXT,
    hold_reason TEXT,
    -- So many rows of `failure` are not older than failures_since, or of any age; null where nobody has noted so.
    -- Rows before failures_since never count, and are being deleted.
    failures INTEGER,
    failures_since INTEGER
) STRICT;

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

-- What people have said of a circuit, the newest of each kind: a hold or its release, a reset, a probe. Links tell the
-- words of one host to the others.
CREATE TABLE word (
    circuit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- No two words have the same.
    number INTEGER NOT NULL,
    -- When the word was said by the clock of the fleet's server; NULL until a link has told.
    said_at INTEGER,
    -- The newest said_at that this host knew of when the word was said.
    floor INTEGER NOT NULL,
    -- When the word was said, in store time.
    at INTEGER NOT NULL,
    -- 'open', 'closed', or NULL for a release.
    hold TEXT,
    hold_for INTEGER,
    operator TEXT,
    reason TEXT,
    PRIMARY KEY (circuit, kind)
) STRICT, WITHOUT ROWID;

"""
