-- Whoever of the board has an issue: `local-board`, `start-token`, `token:ID`
-- or the id of a user account.
ALTER TABLE issues ALTER COLUMN assignee_user_id TYPE text USING assignee_user_id::text;
