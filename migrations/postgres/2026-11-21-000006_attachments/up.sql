-- Bytes that a company keeps. They lie outside of the database, under the id of their row, so
-- that a name is never used twice; equal bytes of a company are one row.
CREATE TABLE assets (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    byte_size bigint NOT NULL CHECK (byte_size > 0),
    content_type text NOT NULL,
    provider text NOT NULL CHECK (provider IN ('local_disk', 's3')),
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, sha256)
);

CREATE TABLE issue_attachments (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    issue_id uuid NOT NULL,
    comment_id uuid,
    asset_id uuid NOT NULL,
    original_filename text,
    declared_content_type text,
    created_by_agent_id uuid,
    created_by_user_id uuid,
    created_by_board text,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, comment_id) REFERENCES issue_comments (company_id, id) ON DELETE SET NULL (comment_id),
    FOREIGN KEY (company_id, asset_id) REFERENCES assets (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (created_by_agent_id),
    CHECK (created_by_agent_id IS NULL OR created_by_user_id IS NULL)
);
CREATE INDEX issue_attachments_of_issue ON issue_attachments (company_id, issue_id, created_at, id);
CREATE INDEX issue_attachments_of_asset ON issue_attachments (company_id, asset_id);
CREATE INDEX issue_attachments_of_comment ON issue_attachments (company_id, comment_id) WHERE comment_id IS NOT NULL;
