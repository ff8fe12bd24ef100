ALTER TABLE approval_events DROP COLUMN payload;
