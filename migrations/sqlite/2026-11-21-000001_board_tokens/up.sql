-- Tokens of the board belong to the instance, not to a company.
CREATE TABLE board_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX board_tokens_by_creation ON board_tokens (created_at, id);

-- Which part of the board made it, where no person with an account did.
ALTER TABLE issues ADD COLUMN created_by_board TEXT;
UPDATE issues SET created_by_board = 'local-board' WHERE created_by_agent_id IS NULL AND created_by_user_id IS NULL;
ALTER TABLE issue_comments ADD COLUMN author_board TEXT;
UPDATE issue_comments SET author_board = 'local-board' WHERE author_agent_id IS NULL AND author_user_id IS NULL;
