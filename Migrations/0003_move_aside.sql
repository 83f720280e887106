-- To schema 2, first part: what there was makes room for the tables of schema.sql.
DROP INDEX registration_by_circuit;
DROP INDEX event_by_circuit;
ALTER TABLE clock RENAME TO breakerstore_1_clock;
ALTER TABLE circuit RENAME TO breakerstore_1_circuit;
ALTER TABLE failure RENAME TO breakerstore_1_failure;
ALTER TABLE probe RENAME TO breakerstore_1_probe;
ALTER TABLE worker RENAME TO breakerstore_1_worker;
ALTER TABLE registration RENAME TO breakerstore_1_registration;
ALTER TABLE tally RENAME TO breakerstore_1_tally;
ALTER TABLE duration RENAME TO breakerstore_1_duration;
ALTER TABLE transition RENAME TO breakerstore_1_transition;
ALTER TABLE event RENAME TO breakerstore_1_event;
DROP TABLE fleet;
DROP TABLE link;
