-- To schema 2, last part: the tables of schema.sql take over what the file has. A row that no program can have written
-- is left behind: of another type SQLite would refuse all others with it.

INSERT OR IGNORE INTO clock (id, boot, offset, reserved, epoch_floor, birth, wall, wall_at)
SELECT id, boot, offset, highest, epoch_floor,
    CASE WHEN typeof(birth) = 'integer' AND birth BETWEEN 1 AND 4611686018427387903 THEN birth
    ELSE random() & 4611686018427387902 | 1 END,
    -- Without these, store time reads as Unix time.
    CASE WHEN wall_at IS NULL THEN highest ELSE coalesce(wall, highest) END,
    CASE WHEN wall IS NULL THEN highest ELSE coalesce(wall_at, highest) END
FROM breakerstore_1_clock
WHERE typeof(id) = 'integer' AND typeof(offset) = 'integer' AND typeof(highest) = 'integer'
AND typeof(epoch_floor) = 'integer' AND typeof(boot) = 'text' AND typeof(wall) IN ('integer', 'null')
AND typeof(wall_at) IN ('integer', 'null');

INSERT OR IGNORE INTO event (id, circuit, kind, at, was, becomes, reason, worker, worker_name, pid, operator)
SELECT id, circuit, kind, at, was, becomes, reason, worker, worker_name, pid, operator
FROM breakerstore_1_event
WHERE typeof(id) = 'integer' AND typeof(at) = 'integer' AND typeof(kind) = 'text'
AND typeof(circuit) IN ('text', 'null') AND typeof(was) IN ('text', 'null') AND typeof(becomes) IN ('text', 'null')
AND typeof(reason) IN ('text', 'null') AND typeof(worker_name) IN ('text', 'null')
AND typeof(operator) IN ('text', 'null') AND typeof(worker) IN ('integer', 'null')
AND typeof(pid) IN ('integer', 'null')
ORDER BY id;

-- `has_rule`: whether the rule of 1.1 is in force. It is where the columns of 1.0 hold what stands in for it; else a
-- program that knew no more has registered another one. `is_own`: whether a program of 1.1 made the present state.
INSERT OR IGNORE INTO circuit (
    id, name, birth, registered, label, mode, rule, rule_count, rule_window, rule_share, slow_threshold, slow_share,
    slow_count, slow_window, recovery, recovery_multiplier, recovery_cap, recovery_jitter, outage_cap, probe_limit,
    probe_successes, probe_lease, minimum_reporters, state, since, epoch, stretch, open_until, successes, trips,
    forgotten_until, last_error, outage_since, trip_reason, hold, hold_since, hold_until, hold_by, hold_reason
)
SELECT id, name,
    CASE WHEN typeof(birth) = 'integer' AND birth BETWEEN 1 AND 4611686018427387903 THEN birth
    ELSE random() & 4611686018427387902 | 1 END,
    registered, label,
    CASE WHEN has_rule THEN mode ELSE 'enforcing' END,
    CASE WHEN has_rule THEN rule ELSE trip_rule END,
    CASE WHEN has_rule THEN rule_count ELSE trip_count END,
    CASE WHEN has_rule THEN rule_window ELSE trip_window END,
    CASE WHEN has_rule THEN rule_share END,
    CASE WHEN has_rule THEN slow_threshold END,
    CASE WHEN has_rule THEN slow_share END,
    CASE WHEN has_rule THEN slow_count END,
    CASE WHEN has_rule THEN slow_window END,
    recovery, recovery_multiplier, recovery_cap, recovery_jitter, 3600000000, probe_limit, probe_successes,
    probe_lease, minimum_reporters, shown_state, since, epoch, 1,
    CASE WHEN shown_state IS state THEN open_until ELSE observed_until END,
    CASE WHEN shown_state IS state THEN successes ELSE observed_successes END,
    trips, forgotten_until, last_error,
    CASE WHEN shown_state <> 'closed' THEN coalesce(
        CASE WHEN is_own THEN outage_since END,
        (SELECT at FROM event WHERE event.id = outage AND kind = 'tripped')) END,
    CASE WHEN shown_state <> 'closed' THEN (SELECT reason FROM event WHERE event.id = outage AND kind = 'tripped') END,
    hold, hold_since, hold_until, hold_by, hold_reason
FROM (
    SELECT *,
        CASE WHEN has_rule AND is_own AND mode = 'observing' AND state = 'closed'
        THEN coalesce(observed_state, state) ELSE state END AS shown_state,
        -- Only closed circuits trip: of these the newest began what lasts, or ended it.
        (SELECT max(id) FROM event WHERE event.circuit = found.name
        AND kind IN ('tripped', 'closed', 'reset', 'forgotten')) AS outage
    FROM (
        SELECT *,
            rules_of IS NOT NULL AND trip_rule = CASE rule WHEN 'rate' THEN 'failures' ELSE rule END
            AND trip_count = CASE WHEN rule = 'rate' OR mode = 'observing' THEN 1000000 ELSE rule_count END
            AND trip_window = CASE rule WHEN 'rate' THEN 1 ELSE rule_window END AS has_rule,
            state_of IS epoch AS is_own
        FROM breakerstore_1_circuit
        WHERE typeof(id) = 'integer' AND typeof(trip_count) = 'integer' AND typeof(trip_window) = 'integer'
        AND typeof(recovery) = 'integer' AND typeof(recovery_cap) = 'integer' AND typeof(probe_limit) = 'integer'
        AND typeof(probe_successes) = 'integer' AND typeof(probe_lease) = 'integer'
        AND typeof(minimum_reporters) = 'integer'
        AND typeof(since) = 'integer' AND typeof(epoch) = 'integer' AND typeof(successes) = 'integer'
        AND typeof(trips) = 'integer' AND typeof(registered) = 'integer' AND typeof(name) = 'text'
        AND typeof(trip_rule) = 'text' AND typeof(state) = 'text' AND typeof(recovery_multiplier) IN ('real', 'integer')
        AND typeof(recovery_jitter) IN ('real', 'integer') AND typeof(label) IN ('text', 'null')
        AND typeof(last_error) IN ('text', 'null') AND typeof(hold) IN ('text', 'null')
        AND typeof(hold_by) IN ('text', 'null') AND typeof(hold_reason) IN ('text', 'null')
        AND typeof(mode) IN ('text', 'null') AND typeof(rule) IN ('text', 'null')
        AND typeof(observed_state) IN ('text', 'null') AND typeof(open_until) IN ('integer', 'null')
        AND typeof(forgotten_until) IN ('integer', 'null') AND typeof(hold_since) IN ('integer', 'null')
        AND typeof(hold_until) IN ('integer', 'null') AND typeof(rule_count) IN ('integer', 'null')
        AND typeof(rule_window) IN ('integer', 'null') AND typeof(slow_threshold) IN ('integer', 'null')
        AND typeof(slow_count) IN ('integer', 'null') AND typeof(slow_window) IN ('integer', 'null')
        AND typeof(outage_since) IN ('integer', 'null') AND typeof(observed_until) IN ('integer', 'null')
        AND typeof(observed_successes) IN ('integer', 'null') AND typeof(rule_share) IN ('real', 'integer', 'null')
        AND typeof(slow_share) IN ('real', 'integer', 'null')
    ) AS found
);

-- The hosts of a fleet are told of a hold that somebody has said on this one.
INSERT OR IGNORE INTO word (circuit, kind, number, floor, at, hold, hold_for, operator, reason)
SELECT id, 'hold', random() & 9223372036854775807 | 1, 0, hold_since, hold, max(0, hold_until - hold_since), hold_by,
    hold_reason
FROM circuit WHERE hold IS NOT NULL AND hold_since IS NOT NULL AND coalesce(hold_by, '') NOT GLOB 'fleet*';

INSERT OR IGNORE INTO failure SELECT circuit, at, worker, sequence FROM breakerstore_1_failure
WHERE typeof(circuit) = 'integer' AND typeof(at) = 'integer' AND typeof(worker) = 'integer'
AND typeof(sequence) = 'integer';
INSERT OR IGNORE INTO probe (circuit, token, worker, worker_name, pid, since, lease_ends)
SELECT circuit, token, probe.worker, worker.name, worker.pid, probe.since, lease_ends
FROM breakerstore_1_probe AS probe LEFT JOIN breakerstore_1_worker AS worker
ON worker.id = probe.worker AND typeof(worker.name) = 'text' AND typeof(worker.pid) = 'integer'
WHERE typeof(circuit) = 'integer' AND typeof(token) = 'integer' AND typeof(probe.worker) = 'integer'
AND typeof(probe.since) = 'integer' AND typeof(lease_ends) = 'integer';
INSERT OR IGNORE INTO worker (id, name, pid, since) SELECT id, name, pid, since FROM breakerstore_1_worker
WHERE typeof(id) = 'integer' AND typeof(pid) = 'integer' AND typeof(since) = 'integer' AND typeof(name) = 'text';
INSERT OR IGNORE INTO registration SELECT worker, circuit FROM breakerstore_1_registration
WHERE typeof(worker) = 'integer' AND typeof(circuit) = 'integer';
INSERT OR IGNORE INTO tally
SELECT circuit, board, succeeded, failed, slow, ignored, refused FROM breakerstore_1_tally
WHERE typeof(circuit) = 'integer' AND typeof(board) = 'integer' AND typeof(succeeded) = 'integer'
AND typeof(failed) = 'integer' AND typeof(slow) = 'integer' AND typeof(ignored) = 'integer'
AND typeof(refused) = 'integer';
-- Programs of 1.0 counted the calls that they refused in the circuit's row.
INSERT OR IGNORE INTO tally SELECT id, 0, 0, 0, 0, 0, 0 FROM breakerstore_1_circuit
WHERE typeof(id) = 'integer' AND typeof(refusals) = 'integer' AND refusals > 0;
UPDATE tally SET refused = min(refused, 4611686018427387904) + min(4611686018427387903,
    (SELECT refusals FROM breakerstore_1_circuit WHERE id = tally.circuit))
WHERE board = 0 AND circuit IN
    (SELECT id FROM breakerstore_1_circuit WHERE typeof(refusals) = 'integer' AND refusals > 0);
INSERT OR IGNORE INTO duration SELECT circuit, board, bucket, count FROM breakerstore_1_duration
WHERE typeof(circuit) = 'integer' AND typeof(board) = 'integer' AND typeof(bucket) = 'integer'
AND typeof(count) = 'integer';
INSERT OR IGNORE INTO transition SELECT circuit, kind, count FROM breakerstore_1_transition
WHERE typeof(circuit) = 'integer' AND typeof(count) = 'integer' AND typeof(kind) = 'text';

-- Numbers go on where they were, also where the row with the newest one is gone.
DELETE FROM sqlite_sequence WHERE name IN ('circuit', 'event');
INSERT INTO sqlite_sequence (name, seq)
SELECT substr(name, 16), seq FROM sqlite_sequence WHERE name IN ('breakerstore_1_circuit', 'breakerstore_1_event');

DROP TABLE breakerstore_1_clock;
DROP TABLE breakerstore_1_circuit;
DROP TABLE breakerstore_1_failure;
DROP TABLE breakerstore_1_probe;
DROP TABLE breakerstore_1_worker;
DROP TABLE breakerstore_1_registration;
DROP TABLE breakerstore_1_tally;
DROP TABLE breakerstore_1_duration;
DROP TABLE breakerstore_1_transition;
DROP TABLE breakerstore_1_event;
