// swift-format-ignore-file
// The step from schema 2.0 to 2.1.
// SQLite gets this text byte for byte.

let schema2_1 = """
-- What was known of a lost file in whose place this file was created.
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

"""
