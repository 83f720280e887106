// swift-format-ignore-file
// The last part of the step to schema 3: copies the rows through the views of `twoAsThree`, and drops the old tables.
// A row that violates a constraint of its new table is deleted with its old table.
// SQLite gets this text byte for byte.

let to3Copy = """
-- To schema 3, last part: the new tables get what the file has, through the views of twoAsThree. A row that breaks
-- a rule of its new table is left behind.
INSERT OR IGNORE INTO main.clock SELECT * FROM temp.clock;
INSERT OR IGNORE INTO main.circuit SELECT * FROM temp.circuit ORDER BY id;
INSERT OR IGNORE INTO main.counters SELECT * FROM temp.counters;
INSERT OR IGNORE INTO main.command SELECT * FROM temp.command;
INSERT OR IGNORE INTO main.predecessor SELECT * FROM temp.predecessor;

-- Numbers go on where they were, even if the row with the newest number is gone.
DELETE FROM main.sqlite_sequence WHERE name = 'circuit';
INSERT INTO main.sqlite_sequence (name, seq)
SELECT 'circuit', seq FROM main.sqlite_sequence WHERE name = 'breakerstore_2_circuit';

DROP VIEW temp.clock;
DROP VIEW temp.circuit;
DROP VIEW temp.counters;
DROP VIEW temp.command;
DROP VIEW temp.predecessor;
DROP TABLE breakerstore_2_clock;
DROP TABLE breakerstore_2_circuit;
DROP TABLE breakerstore_2_tally;
DROP TABLE breakerstore_2_word;
DROP TABLE breakerstore_2_predecessor;

"""
