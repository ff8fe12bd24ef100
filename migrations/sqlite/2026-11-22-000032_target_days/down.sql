ALTER TABLE projects DROP COLUMN target_is_day;
