-- Tokens of the board belong to the instance, not to a company.
CREATE TABLE board_tokens (
    id uuid NOT NULL PRIMARY KEY,
    name text NOT NULL,
    prefix text NOT NULL,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX board_tokens_by_creation ON board_tokens (created_at, id);

-- Which part of the board made it, where no person with an account did.
ALTER TABLE issues ADD COLUMN created_by_board text;
UPDATE issues SET created_by_board = 'local-board' WHERE created_by_agent_id IS NULL AND created_by_user_id IS NULL;
ALTER TABLE issue_comments ADD COLUMN author_board text;
UPDATE issue_comments SET author_board = 'local-board' WHERE author_agent_id IS NULL AND author_user_id IS NULL;
