-- Open pull requests, and when each is looked at next. No version before this one opened any.
CREATE TABLE pull_request_watches (
    workspace_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    fence INTEGER NOT NULL CHECK (fence >= 0),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    validators TEXT NOT NULL,
    checks TEXT NOT NULL CHECK (checks IN ('none', 'pending', 'passed', 'failed', 'unknown')),
    head_commit TEXT,
    drift_due_at INTEGER NOT NULL,
    merged_base TEXT,
    merged_head TEXT,
    obstacle TEXT,
    escalated INTEGER NOT NULL CHECK (escalated IN (0, 1)),
    created_at INTEGER NOT NULL,
    FOREIGN KEY (company_id, workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX pull_request_watches_due ON pull_request_watches (due_at, workspace_id);
CREATE INDEX pull_request_watches_drift_due ON pull_request_watches (drift_due_at, workspace_id);

-- When the folder of a ticket that has ended is looked at next, and why it was kept the last time.
ALTER TABLE execution_workspaces ADD COLUMN clean_up_after INTEGER NOT NULL DEFAULT 0;
ALTER TABLE execution_workspaces ADD COLUMN kept_because TEXT;
CREATE INDEX execution_workspaces_to_clean_up ON execution_workspaces (clean_up_after, id) WHERE status = 'ready';
CREATE INDEX issues_of_worktree ON issues (company_id, execution_workspace_id) WHERE execution_workspace_id IS NOT NULL;
