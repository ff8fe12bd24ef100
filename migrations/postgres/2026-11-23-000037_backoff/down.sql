ALTER TABLE wakes DROP COLUMN by_board;
ALTER TABLE agents DROP COLUMN provider_account;
ALTER TABLE agents DROP COLUMN backoff_until;
