-- What a browser shows the board with. It ends when it was not used for long, and at last.
CREATE TABLE board_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    session_hash BLOB NOT NULL UNIQUE CHECK (length(session_hash) = 32),
    member TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX board_sessions_by_creation ON board_sessions (created_at, id);
CREATE INDEX board_sessions_by_member ON board_sessions (member);
CREATE INDEX board_sessions_by_expiry ON board_sessions (expires_at);

-- What makes one of them, once.
CREATE TABLE login_links (
    link_hash BLOB NOT NULL PRIMARY KEY CHECK (length(link_hash) = 32),
    member TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX login_links_by_expiry ON login_links (expires_at);
