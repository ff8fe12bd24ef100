ALTER TABLE projects DROP COLUMN remote_required;
DROP INDEX secrets_token_for;
ALTER TABLE secrets DROP COLUMN token_for;
