ALTER TABLE wakes DROP COLUMN work_reason;
