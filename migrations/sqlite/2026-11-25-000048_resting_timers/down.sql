DROP INDEX issue_leases_by_end;
DROP INDEX agents_backing_off;
DROP INDEX wakes_delayed;
DROP INDEX agents_resting;
DROP INDEX agents_timers_due;
CREATE INDEX agents_timers_due ON agents (next_heartbeat_at, id) WHERE next_heartbeat_at IS NOT NULL;
ALTER TABLE agents DROP COLUMN heartbeat_always;
ALTER TABLE agents DROP COLUMN heartbeat_rests;
