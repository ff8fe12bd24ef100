-- The repositories that a secret is the token for.
ALTER TABLE secrets ADD COLUMN token_for TEXT;
CREATE UNIQUE INDEX secrets_token_for ON secrets (company_id, token_for) WHERE token_for IS NOT NULL;

-- Whether tickets of a project need a repository with a remote.
ALTER TABLE projects ADD COLUMN remote_required INTEGER NOT NULL DEFAULT 0 CHECK (remote_required IN (0, 1));
