-- A file of release 0.5.1, as `sqlite3 .dump` says it.
PRAGMA application_id = 1114794835;
PRAGMA user_version = 2001;
PRAGMA journal_mode = WAL;
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
INSERT INTO "circuit" VALUES(1,'closed',1001,1767225600000000,'shop','enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225600000000,1767225600000000,1,NULL,0,0,NULL,'Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(2,'open',1002,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'open',1767225633000000,1767225633000000,7,1767225663000000,0,1,NULL,'Boom',3,4,1767225633000000,3,1,'3 failures within 60 s, the last: Boom',3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(3,'half-open',1003,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'half-open',1767225632000000,1767225632000000,1,NULL,0,1,NULL,'Boom',NULL,NULL,1767225601000000,NULL,NULL,'3 failures within 60 s, the last: Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(4,'held-open',1004,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225600000000,1767225634000000,1,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'open',1767225634000000,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(5,'held-closed',1005,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225600000000,1767225634000000,1,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'closed',1767225634000000,NULL,NULL,NULL,40,1767225600000001);
INSERT INTO "circuit" VALUES(7,'reset',1007,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225634000000,1767225634000001,1,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(8,'in-a-row',1008,1767225600000000,NULL,'enforcing','consecutive',3,0,NULL,NULL,NULL,NULL,NULL,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225600000000,1767225600000000,1,NULL,0,0,NULL,'Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(9,'rate',1009,1767225600000000,NULL,'enforcing','rate',4,60000000,0.3,NULL,NULL,NULL,NULL,60000000,1.7,600000000,0.1,3600000000,1,1,30000000,1,'open',1767225634000000,1767225634000000,1,1767225694000000,0,1,NULL,'Boom',NULL,NULL,1767225634000000,NULL,NULL,'4 of 4 calls (100 %) failed within 60 s, the last: Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(10,'slow',1010,1767225600000000,NULL,'enforcing','failures',3,60000000,NULL,100000,0.25,9,60000000,30000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'closed',1767225600000000,1767225600000000,1,NULL,0,0,NULL,'Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(11,'watched',1011,1767225600000000,NULL,'observing','failures',3,60000000,NULL,NULL,NULL,NULL,NULL,40000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'open',1767225634000000,1767225634000000,1,1767225674000000,0,1,NULL,'Boom',NULL,NULL,1767225634000000,NULL,NULL,'3 failures within 60 s, the last: Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "circuit" VALUES(12,'watched-rate',1012,1767225600000000,NULL,'observing','rate',4,60000000,0.5,NULL,NULL,NULL,NULL,40000000,1.0,600000000,0.0,3600000000,1,1,30000000,1,'open',1767225634000000,1767225634000000,1,1767225674000000,0,1,NULL,'Boom',NULL,NULL,1767225634000000,NULL,NULL,'4 of 4 calls (100 %) failed within 60 s, the last: Boom',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "clock" VALUES(1,'shared-boot-1',1767224600000000,1767225634000000,1767225600000001,999,1767225634000000,1767225634000000);
CREATE TABLE duration (
    circuit INTEGER NOT NULL,
    board INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, board, bucket)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "event" VALUES(1,'half-open','tripped',1767225601000000,'closed','open','3 failures within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(2,'half-open','probing',1767225632000000,'open','half-open',NULL,NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(3,'open','tripped',1767225633000000,'closed','open','3 failures within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(4,'held-open','held',1767225634000000,'closed','held-open',NULL,NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(5,'held-closed','held',1767225634000000,'closed','held-closed',NULL,NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(6,'rate','tripped',1767225634000000,'closed','open','4 of 4 calls (100 %) failed within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(7,'watched','tripped',1767225634000000,'closed','open','3 failures within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(8,'watched-rate','tripped',1767225634000000,'closed','open','4 of 4 calls (100 %) failed within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(9,'reset','tripped',1767225634000000,'closed','open','3 failures within 60 s, the last: Boom',NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
INSERT INTO "event" VALUES(10,'reset','reset',1767225634000000,'open','closed',NULL,NULL,NULL,NULL,962163725264351110,'shop',10692,NULL);
CREATE TABLE failure (
    circuit INTEGER NOT NULL,
    at INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (circuit, at, worker, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO "failure" VALUES(1,1767225600000000,962163725264351110,1);
INSERT INTO "failure" VALUES(1,1767225600000000,962163725264351110,2);
INSERT INTO "failure" VALUES(2,1767225633000000,962163725264351110,6);
INSERT INTO "failure" VALUES(2,1767225633000000,962163725264351110,7);
INSERT INTO "failure" VALUES(2,1767225633000000,962163725264351110,8);
INSERT INTO "failure" VALUES(3,1767225601000000,962163725264351110,3);
INSERT INTO "failure" VALUES(3,1767225601000000,962163725264351110,4);
INSERT INTO "failure" VALUES(3,1767225601000000,962163725264351110,5);
INSERT INTO "failure" VALUES(8,1767225633000000,962163725264351110,9);
INSERT INTO "failure" VALUES(8,1767225633000000,962163725264351110,10);
INSERT INTO "failure" VALUES(10,1767225634000000,962163725264351110,14);
INSERT INTO "failure" VALUES(11,1767225634000000,962163725264351110,11);
INSERT INTO "failure" VALUES(11,1767225634000000,962163725264351110,12);
INSERT INTO "failure" VALUES(11,1767225634000000,962163725264351110,13);
CREATE TABLE predecessor (
    -- The circuit; 0 for the file itself, whose row is written at its creation.
    circuit INTEGER NOT NULL PRIMARY KEY,
    -- The clock.birth of the lost file. Null: this file takes the place of none that a worker knows.
    birth INTEGER,
    -- The circuit's epoch in the lost file, and its epoch here just after that was written: with another epoch it has
    -- been changed since.
    epoch INTEGER,
    epoch_here INTEGER,
    -- Whether a hold and an open state were restored.
    restored_hold INTEGER NOT NULL,
    restored_open INTEGER NOT NULL,
    -- When a worker last saw the lost file in its place; of the file itself, when it was created.
    at INTEGER NOT NULL,
    -- Of the file itself: FNV-1a of the path at which it was created.
    place INTEGER
) STRICT;
INSERT INTO "predecessor" VALUES(0,555,NULL,NULL,0,0,1767225600000000,42);
INSERT INTO "predecessor" VALUES(4,555,3,1767225634000000,1,0,1767225600000000,NULL);
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
INSERT INTO "probe" VALUES(3,1583925071541174225,962163725264351110,'shop',10692,1767225632000000,1767225662000000);
CREATE TABLE registration (
    worker INTEGER NOT NULL,
    circuit INTEGER NOT NULL,
    PRIMARY KEY (worker, circuit)
) STRICT, WITHOUT ROWID;
INSERT INTO "registration" VALUES(962163725264351110,1);
INSERT INTO "registration" VALUES(962163725264351110,2);
INSERT INTO "registration" VALUES(962163725264351110,3);
INSERT INTO "registration" VALUES(962163725264351110,4);
INSERT INTO "registration" VALUES(962163725264351110,5);
INSERT INTO "registration" VALUES(962163725264351110,7);
INSERT INTO "registration" VALUES(962163725264351110,8);
INSERT INTO "registration" VALUES(962163725264351110,9);
INSERT INTO "registration" VALUES(962163725264351110,10);
INSERT INTO "registration" VALUES(962163725264351110,11);
INSERT INTO "registration" VALUES(962163725264351110,12);
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
INSERT INTO "tally" VALUES(10,0,5,3,1,2,4);
CREATE TABLE transition (
    circuit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (circuit, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "transition" VALUES(2,'tripped',1);
INSERT INTO "transition" VALUES(3,'probing',1);
INSERT INTO "transition" VALUES(3,'tripped',1);
INSERT INTO "transition" VALUES(4,'held',1);
INSERT INTO "transition" VALUES(5,'held',1);
INSERT INTO "transition" VALUES(7,'reset',1);
INSERT INTO "transition" VALUES(7,'tripped',1);
INSERT INTO "transition" VALUES(9,'tripped',1);
INSERT INTO "transition" VALUES(11,'tripped',1);
INSERT INTO "transition" VALUES(12,'tripped',1);
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
INSERT INTO "word" VALUES(4,'hold',77,1767225600000000,0,1767225634000000,'open',NULL,NULL,NULL);
INSERT INTO "word" VALUES(5,'hold',78,NULL,0,1767225634000000,'closed',NULL,NULL,NULL);
CREATE TABLE worker (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    -- The release of the library that it runs.
    version TEXT,
    since INTEGER NOT NULL
) STRICT;
INSERT INTO "worker" VALUES(962163725264351110,'shop',10692,'0.5.1',1767225600000000);
CREATE INDEX registration_by_circuit ON registration (circuit, worker);
CREATE INDEX event_by_circuit ON event (circuit, id);
INSERT INTO "duration" VALUES(11,0,3,6);
INSERT INTO "duration" VALUES(11,0,16,900);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('circuit',12);
INSERT INTO "sqlite_sequence" VALUES('event',11);
