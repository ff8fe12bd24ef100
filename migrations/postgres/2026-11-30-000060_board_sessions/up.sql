-- What a browser shows the board with. It ends when it was not used for long, and at last.
CREATE TABLE board_sessions (
    id uuid NOT NULL PRIMARY KEY,
    session_hash bytea NOT NULL UNIQUE CHECK (octet_length(session_hash) = 32),
    member text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX board_sessions_by_creation ON board_sessions (created_at, id);
CREATE INDEX board_sessions_by_member ON board_sessions (member);
CREATE INDEX board_sessions_by_expiry ON board_sessions (expires_at);

-- What makes one of them, once.
CREATE TABLE login_links (
    link_hash bytea NOT NULL PRIMARY KEY CHECK (octet_length(link_hash) = 32),
    member text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX login_links_by_expiry ON login_links (expires_at);
