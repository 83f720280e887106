-- What BreakerFleet needs in a database: the schema fleet, version 2.1, in the words of PostgreSQL 13.
--
-- Its owner makes it, once:
--
--     psql -v ON_ERROR_STOP=1 -f docs/fleet.sql
--
-- A schema that is there stays as it is; `breaker-fleet schema apply` also moves an older one to this version.
-- The role of the links makes nothing, and needs no more than this:
--
--     GRANT USAGE ON SCHEMA fleet TO breaker;
--     GRANT SELECT ON fleet.meta TO breaker;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON fleet.circuit, fleet.failure, fleet.rate, fleet.link TO breaker;
--     GRANT EXECUTE ON FUNCTION fleet.now() TO breaker;

BEGIN;

CREATE SCHEMA IF NOT EXISTS fleet;

CREATE TABLE IF NOT EXISTS fleet.meta (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    version integer NOT NULL CHECK (version > 0)
);

INSERT INTO fleet.meta (version) VALUES (2001) ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION fleet.now() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS 'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint';

CREATE TABLE IF NOT EXISTS fleet.circuit (
    fleet text NOT NULL, name text NOT NULL,
    generation bigint NOT NULL CHECK (generation BETWEEN 1 AND 4611686018427387904),
    state text NOT NULL CHECK (state IN ('closed', 'open')),
    since bigint NOT NULL CHECK (since BETWEEN 0 AND 2305843009213693952),
    open_until bigint CHECK (open_until BETWEEN 0 AND 2305843009213693952), open_for bigint CHECK (open_for BETWEEN 0 AND 315360000000000),
    trips integer NOT NULL DEFAULT 0 CHECK (trips >= 0),
    reason text, said_by text,
    hold_said bigint CHECK (hold_said BETWEEN 0 AND 2305843009213693952), hold_number bigint,
    hold text CHECK (hold IN ('open', 'closed')), hold_for bigint CHECK (hold_for BETWEEN 0 AND 315360000000000),
    hold_by text, hold_reason text,
    reset_said bigint CHECK (reset_said BETWEEN 0 AND 2305843009213693952), reset_number bigint, reset_by text, reset_reason text,
    lease_host text, lease_ends bigint CHECK (lease_ends BETWEEN 0 AND 2305843009213693952), lease_for bigint CHECK (lease_for BETWEEN 0 AND 315360000000000),
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    used bigint NOT NULL CHECK (used BETWEEN 0 AND 2305843009213693952),
    history jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(history) = 'array'),
    PRIMARY KEY (fleet, name),
    CHECK ((state = 'open') = (open_until IS NOT NULL) AND (open_until IS NULL) = (open_for IS NULL)),
    CHECK ((lease_host IS NULL) = (lease_ends IS NULL) AND (lease_ends IS NULL) = (lease_for IS NULL)),
    CHECK ((hold_said IS NULL) = (hold_number IS NULL) AND (reset_said IS NULL) = (reset_number IS NULL))
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS fleet.failure (
    fleet text NOT NULL, circuit text NOT NULL, worker bigint NOT NULL, number bigint NOT NULL,
    host text NOT NULL, file text NOT NULL, at bigint NOT NULL CHECK (at BETWEEN 0 AND 2305843009213693952),
    PRIMARY KEY (fleet, circuit, worker, number)
);

CREATE TABLE IF NOT EXISTS fleet.rate (
    fleet text NOT NULL, circuit text NOT NULL, host text NOT NULL, file text NOT NULL,
    failed_calls bigint NOT NULL CHECK (failed_calls >= 0), failed_bad bigint NOT NULL CHECK (failed_bad >= 0),
    slow_calls bigint NOT NULL CHECK (slow_calls >= 0), slow_bad bigint NOT NULL CHECK (slow_bad >= 0),
    at bigint NOT NULL CHECK (at BETWEEN 0 AND 2305843009213693952),
    PRIMARY KEY (fleet, circuit, file)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS fleet.link (
    fleet text NOT NULL, host text NOT NULL, session bigint NOT NULL, file text NOT NULL, place text NOT NULL,
    program text NOT NULL, beat bigint NOT NULL CHECK (beat BETWEEN 0 AND 2305843009213693952), rules jsonb NOT NULL DEFAULT '{}',
    trouble text, trouble_since bigint CHECK (trouble_since BETWEEN 0 AND 2305843009213693952),
    left_at bigint CHECK (left_at BETWEEN 0 AND 2305843009213693952), own_trips jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (fleet, host)
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS circuit_changed ON fleet.circuit (fleet, changed);

CREATE INDEX IF NOT EXISTS link_file ON fleet.link (fleet, file);

COMMIT;
