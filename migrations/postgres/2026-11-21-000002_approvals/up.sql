-- Who of the board asked, where no person with an account did.
ALTER TABLE approvals ADD COLUMN requested_by_board text;
UPDATE approvals SET requested_by_board = 'local-board' WHERE requested_by_agent_id IS NULL AND requested_by_user_id IS NULL;
-- What the board should look at twice before it decides.
ALTER TABLE approvals ADD COLUMN attention jsonb NOT NULL DEFAULT '[]';
CREATE INDEX approvals_by_status ON approvals (company_id, status, created_at, id);
CREATE INDEX approvals_by_type ON approvals (company_id, type, created_at, id);
-- Ids rise with time, so that this index gives the approvals of an issue in the order of their making.
DROP INDEX approval_issues_of_issue;
CREATE INDEX approval_issues_of_issue ON approval_issues (company_id, issue_id, approval_id);

-- The draft that an approval decides on; a draft has exactly one approval.
CREATE TABLE approval_drafts (
    approval_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    UNIQUE (company_id, agent_id),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
);

-- The history of an approval; append-only.
CREATE TABLE approval_events (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('created', 'approved', 'rejected', 'revision_requested', 'resubmitted', 'edited', 'cancelled')),
    actor_type text NOT NULL CHECK (actor_type IN ('board', 'agent', 'system')),
    actor_id text NOT NULL,
    note text,
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE
);
CREATE INDEX approval_events_of_approval ON approval_events (company_id, approval_id, created_at, id);

CREATE TABLE approval_comments (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    author_agent_id uuid,
    author_user_id uuid,
    author_board text,
    run_id uuid,
    body text NOT NULL,
    mentions jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, author_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (author_agent_id),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (run_id),
    CHECK (author_agent_id IS NULL OR author_user_id IS NULL)
);
CREATE INDEX approval_comments_of_approval ON approval_comments (company_id, approval_id, created_at, id);
CREATE INDEX approval_comments_of_run ON approval_comments (company_id, run_id) WHERE run_id IS NOT NULL;
