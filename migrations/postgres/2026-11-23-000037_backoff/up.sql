-- Until when an agent whose runs fail waits, and the account at the provider of its model.
ALTER TABLE agents ADD COLUMN backoff_until timestamptz;
ALTER TABLE agents ADD COLUMN provider_account text;
-- Whether somebody of the board asked for the run, who does not wait for that.
ALTER TABLE wakes ADD COLUMN by_board boolean NOT NULL DEFAULT FALSE;
