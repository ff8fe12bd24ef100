-- Bytes that a company keeps. They lie outside of the database, under the id of their row, so
-- that a name is never used twice; equal bytes of a company are one row.
CREATE TABLE assets (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    byte_size INTEGER NOT NULL CHECK (byte_size > 0),
    content_type TEXT NOT NULL,
    provider TEXT NOT NULL CHECK (provider IN ('local_disk', 's3')),
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, sha256)
) STRICT;

CREATE TABLE issue_attachments (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    comment_id TEXT,
    asset_id TEXT NOT NULL,
    original_filename TEXT,
    declared_content_type TEXT,
    created_by_agent_id TEXT,
    created_by_user_id TEXT,
    created_by_board TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, comment_id) REFERENCES issue_comments (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, asset_id) REFERENCES assets (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    CHECK (created_by_agent_id IS NULL OR created_by_user_id IS NULL)
) STRICT;
CREATE INDEX issue_attachments_of_issue ON issue_attachments (company_id, issue_id, created_at, id);
CREATE INDEX issue_attachments_of_asset ON issue_attachments (company_id, asset_id);
CREATE INDEX issue_attachments_of_comment ON issue_attachments (company_id, comment_id) WHERE comment_id IS NOT NULL;

CREATE TRIGGER agents_unlink_attachments AFTER DELETE ON agents BEGIN
    UPDATE issue_attachments SET created_by_agent_id = NULL WHERE company_id = OLD.company_id AND created_by_agent_id = OLD.id;
END;
CREATE TRIGGER issue_comments_unlink AFTER DELETE ON issue_comments BEGIN
    UPDATE issue_attachments SET comment_id = NULL WHERE company_id = OLD.company_id AND comment_id = OLD.id;
END;
