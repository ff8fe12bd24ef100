-- Whether nothing waited for an agent at its last beat: nobody looks at its beats until something
-- does. And whether its configuration has it run at every beat.
ALTER TABLE agents ADD COLUMN heartbeat_rests INTEGER NOT NULL DEFAULT 0 CHECK (heartbeat_rests IN (0, 1));
ALTER TABLE agents ADD COLUMN heartbeat_always INTEGER NOT NULL DEFAULT 0 CHECK (heartbeat_always IN (0, 1));
DROP INDEX agents_timers_due;
CREATE INDEX agents_timers_due ON agents (next_heartbeat_at, id) WHERE next_heartbeat_at IS NOT NULL AND NOT heartbeat_rests;
CREATE INDEX agents_resting ON agents (company_id, id) WHERE heartbeat_rests;

-- The next instant at which something comes to be due by itself.
CREATE INDEX wakes_delayed ON wakes (not_before) WHERE status = 'pending' AND not_before > created_at;
CREATE INDEX agents_backing_off ON agents (backoff_until) WHERE backoff_until IS NOT NULL;
CREATE INDEX issue_leases_by_end ON issue_leases (expires_at) WHERE expires_at IS NOT NULL;
