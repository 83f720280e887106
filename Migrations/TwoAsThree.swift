// swift-format-ignore-file
// Views that show the tables of schema 2 as those of schema 3 (`Migration.views`).
// SQLite gets this text byte for byte, but for the placeholder `@`.

let twoAsThree = """
-- The tables of schema 2, under the names and with the columns of schema 3. The migration copies from these views, and
-- the operator's tool reads a file of schema 2 through them. `@` stands for the prefix of the tables.
DROP VIEW IF EXISTS temp.clock;
DROP VIEW IF EXISTS temp.circuit;
DROP VIEW IF EXISTS temp.counters;
DROP VIEW IF EXISTS temp.command;
DROP VIEW IF EXISTS temp.predecessor;

CREATE TEMP VIEW clock AS SELECT id, boot, offset, reserved, epoch_floor, birth AS incarnation, wall, wall_at
FROM main.@clock;

CREATE TEMP VIEW circuit AS SELECT id, name, birth AS incarnation, registered, label AS group_name, mode,
    '{"minimumReporters":' || minimum_reporters
    || ',"probes":{"leaseMicroseconds":' || probe_lease || ',"limit":' || probe_limit
    || ',"successesToClose":' || probe_successes
    || '},"recovery":{"capMicroseconds":' || recovery_cap || ',"jitter":' || printf('%!.17g', recovery_jitter)
    || ',"multiplier":' || printf('%!.17g', recovery_multiplier) || ',"timeoutMicroseconds":' || recovery || '}'
    || coalesce(',"slow":{"minimumCalls":' || slow_count || ',"share":' || printf('%!.17g', slow_share)
        || ',"thresholdMicroseconds":' || slow_threshold || ',"windowMicroseconds":' || slow_window || '}', '')
    || ',"trip":' || CASE rule
        WHEN 'failures' THEN '{"count":' || rule_count || ',"rule":"failures","windowMicroseconds":' || rule_window
            || '}'
        WHEN 'consecutive' THEN '{"count":' || rule_count || ',"rule":"consecutiveFailures"}'
        WHEN 'rate' THEN '{"minimumCalls":' || rule_count || ',"rule":"failureRate","share":'
            || printf('%!.17g', rule_share) || ',"windowMicroseconds":' || rule_window || '}'
        ELSE 'null' END || '}' AS rules,
    state, since, epoch, stretch AS window_generation, open_until, successes, 0 AS probe_failures, trips,
    forgotten_until, NULL AS cleared_at, last_error,
    stretch_failed AS generation_failed, stretch_refused AS generation_refused, outage_since, outage_failed,
    outage_refused, trip_reason, trip_failed, trip_calls, hold, hold_since, hold_until, hold_by, hold_reason,
    failures AS failure_count, failures_since
FROM main.@circuit;

CREATE TEMP VIEW counters AS SELECT circuit, board, succeeded, failed, slow, ignored, refused FROM main.@tally;

CREATE TEMP VIEW command AS SELECT circuit, kind, number, said_at AS lamport_time, floor, at, hold, hold_for, operator,
    reason
FROM main.@word;

CREATE TEMP VIEW predecessor AS SELECT circuit, birth AS incarnation, epoch, epoch_here, restored_hold,
    restored_open, at, place AS path_hash
FROM main.@predecessor;

"""
