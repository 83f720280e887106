// swift-format-ignore-file
// The first part of the step to schema 3: deletes rows with values of a wrong type, because one such row would make
// SQLite reject the whole INSERT of the copy, and renames the tables that change.
// SQLite gets this text byte for byte.

let to3MoveAside = """
-- To schema 3, first part: the tables of schema 2 that change make room for those of `schema`; the others stay.

-- Rows with a value of a wrong type, which no program of this library can have written, are deleted: SQLite would
-- refuse to copy all others with them.
DELETE FROM main.clock WHERE typeof(id) <> 'integer' OR typeof(boot) <> 'text' OR typeof(offset) <> 'integer' OR
    typeof(reserved) <> 'integer' OR typeof(epoch_floor) <> 'integer' OR typeof(birth) <> 'integer' OR
    typeof(wall) <> 'integer' OR typeof(wall_at) <> 'integer';
DELETE FROM main.circuit WHERE typeof(id) <> 'integer' OR typeof(name) <> 'text' OR typeof(birth) <> 'integer' OR
    typeof(registered) <> 'integer' OR typeof(label) NOT IN ('text', 'null') OR typeof(mode) <> 'text' OR
    typeof(rule) <> 'text' OR typeof(rule_count) <> 'integer' OR typeof(rule_window) <> 'integer' OR
    typeof(rule_share) NOT IN ('real', 'null') OR typeof(slow_threshold) NOT IN ('integer', 'null') OR
    typeof(slow_share) NOT IN ('real', 'null') OR typeof(slow_count) NOT IN ('integer', 'null') OR
    typeof(slow_window) NOT IN ('integer', 'null') OR typeof(recovery) <> 'integer' OR
    typeof(recovery_multiplier) <> 'real' OR typeof(recovery_cap) <> 'integer' OR typeof(recovery_jitter) <> 'real' OR
    typeof(outage_cap) <> 'integer' OR typeof(probe_limit) <> 'integer' OR typeof(probe_successes) <> 'integer' OR
    typeof(probe_lease) <> 'integer' OR typeof(minimum_reporters) <> 'integer' OR typeof(state) <> 'text' OR
    typeof(since) <> 'integer' OR typeof(epoch) <> 'integer' OR typeof(stretch) <> 'integer' OR
    typeof(open_until) NOT IN ('integer', 'null') OR typeof(successes) <> 'integer' OR typeof(trips) <> 'integer' OR
    typeof(forgotten_until) NOT IN ('integer', 'null') OR typeof(last_error) NOT IN ('text', 'null') OR
    typeof(stretch_failed) NOT IN ('integer', 'null') OR typeof(stretch_refused) NOT IN ('integer', 'null') OR
    typeof(outage_since) NOT IN ('integer', 'null') OR typeof(outage_failed) NOT IN ('integer', 'null') OR
    typeof(outage_refused) NOT IN ('integer', 'null') OR typeof(trip_reason) NOT IN ('text', 'null') OR
    typeof(trip_failed) NOT IN ('integer', 'null') OR typeof(trip_calls) NOT IN ('integer', 'null') OR
    typeof(hold) NOT IN ('text', 'null') OR typeof(hold_since) NOT IN ('integer', 'null') OR
    typeof(hold_until) NOT IN ('integer', 'null') OR typeof(hold_by) NOT IN ('text', 'null') OR
    typeof(hold_reason) NOT IN ('text', 'null') OR typeof(failures) NOT IN ('integer', 'null') OR
    typeof(failures_since) NOT IN ('integer', 'null');
DELETE FROM main.tally WHERE typeof(circuit) <> 'integer' OR typeof(board) <> 'integer' OR
    typeof(succeeded) <> 'integer' OR typeof(failed) <> 'integer' OR typeof(slow) <> 'integer' OR
    typeof(ignored) <> 'integer' OR typeof(refused) <> 'integer';
DELETE FROM main.word WHERE typeof(circuit) <> 'integer' OR typeof(kind) <> 'text' OR typeof(number) <> 'integer' OR
    typeof(said_at) NOT IN ('integer', 'null') OR typeof(floor) <> 'integer' OR typeof(at) <> 'integer' OR
    typeof(hold) NOT IN ('text', 'null') OR typeof(hold_for) NOT IN ('integer', 'null') OR
    typeof(operator) NOT IN ('text', 'null') OR typeof(reason) NOT IN ('text', 'null');
DELETE FROM main.predecessor WHERE typeof(circuit) <> 'integer' OR typeof(birth) NOT IN ('integer', 'null') OR
    typeof(epoch) NOT IN ('integer', 'null') OR typeof(epoch_here) NOT IN ('integer', 'null') OR
    typeof(restored_hold) <> 'integer' OR typeof(restored_open) <> 'integer' OR typeof(at) <> 'integer' OR
    typeof(place) NOT IN ('integer', 'null');

ALTER TABLE main.clock RENAME TO breakerstore_2_clock;
ALTER TABLE main.circuit RENAME TO breakerstore_2_circuit;
ALTER TABLE main.tally RENAME TO breakerstore_2_tally;
ALTER TABLE main.word RENAME TO breakerstore_2_word;
ALTER TABLE main.predecessor RENAME TO breakerstore_2_predecessor;

"""
