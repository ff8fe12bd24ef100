-- Open pull requests, and when each is looked at next. No version before this one opened any.
CREATE TABLE pull_request_watches (
    workspace_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    due_at timestamptz NOT NULL,
    fence bigint NOT NULL CHECK (fence >= 0),
    attempts integer NOT NULL CHECK (attempts >= 0),
    validators jsonb NOT NULL,
    checks text NOT NULL CHECK (checks IN ('none', 'pending', 'passed', 'failed', 'unknown')),
    head_commit text,
    drift_due_at timestamptz NOT NULL,
    merged_base text,
    merged_head text,
    obstacle text,
    escalated boolean NOT NULL,
    created_at timestamptz NOT NULL,
    FOREIGN KEY (company_id, workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE CASCADE
);
CREATE INDEX pull_request_watches_due ON pull_request_watches (due_at, workspace_id);
CREATE INDEX pull_request_watches_drift_due ON pull_request_watches (drift_due_at, workspace_id);

-- When the folder of a ticket that has ended is looked at next, and why it was kept the last time.
ALTER TABLE execution_workspaces
    ADD COLUMN clean_up_after timestamptz NOT NULL DEFAULT to_timestamp(0),
    ADD COLUMN kept_because text;
CREATE INDEX execution_workspaces_to_clean_up ON execution_workspaces (clean_up_after, id) WHERE status = 'ready';
CREATE INDEX issues_of_worktree ON issues (company_id, execution_workspace_id) WHERE execution_workspace_id IS NOT NULL;
