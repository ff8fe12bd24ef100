DROP INDEX wakes_in_turn;
CREATE INDEX wakes_due ON wakes (not_before, created_at) WHERE status = 'pending';
ALTER TABLE wakes DROP COLUMN priority;
