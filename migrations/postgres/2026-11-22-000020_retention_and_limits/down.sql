DROP INDEX wakes_ended;
ALTER TABLE companies DROP COLUMN attachment_max_bytes;
