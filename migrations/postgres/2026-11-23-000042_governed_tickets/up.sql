-- No version before this one made a worktree, so the table is empty.
ALTER TABLE execution_workspaces
    ADD COLUMN owner_issue_id uuid,
    ADD COLUMN status text NOT NULL CHECK (status IN ('provisioning', 'ready', 'removed')),
    ADD COLUMN repository_url text,
    ADD COLUMN fetch_address text,
    ADD COLUMN push_address text,
    ADD COLUMN base_commit text,
    ADD COLUMN head_commit text,
    ADD COLUMN pushed_commit text,
    ADD COLUMN pull_request_number bigint,
    ADD COLUMN pull_request_url text,
    ADD COLUMN pull_request_state text CHECK (pull_request_state IN ('open', 'merged', 'closed')),
    ADD COLUMN conflict_wakes integer NOT NULL CHECK (conflict_wakes >= 0),
    ADD COLUMN held_until timestamptz,
    ADD FOREIGN KEY (company_id, owner_issue_id) REFERENCES issues (company_id, id) ON DELETE SET NULL (owner_issue_id),
    ADD CHECK ((pull_request_number IS NULL) = (pull_request_url IS NULL) AND (pull_request_number IS NULL) = (pull_request_state IS NULL));
CREATE UNIQUE INDEX execution_workspaces_one_branch ON execution_workspaces (company_id, project_workspace_id, branch) WHERE status <> 'removed';
CREATE INDEX execution_workspaces_of_owner ON execution_workspaces (company_id, owner_issue_id, created_at, id);

-- What approvals do outside of the database, step by step.
CREATE TABLE approval_executions (
    approval_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('executing', 'failed', 'completed')),
    step text NOT NULL CHECK (step IN ('source', 'base', 'worktree', 'commit', 'sync', 'push', 'pull_request', 'complete')),
    error_code text,
    error text,
    details jsonb NOT NULL,
    attempts integer NOT NULL CHECK (attempts > 0),
    forced boolean NOT NULL,
    decided_by text NOT NULL,
    note text,
    lease_expires_at timestamptz,
    started_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((state = 'executing') = (lease_expires_at IS NOT NULL)),
    CHECK ((state = 'failed') = (error_code IS NOT NULL)),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE
);
CREATE INDEX approval_executions_live ON approval_executions (lease_expires_at) WHERE state = 'executing';

CREATE TABLE approval_execution_steps (
    approval_id uuid NOT NULL,
    company_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    step text NOT NULL CHECK (step IN ('source', 'base', 'worktree', 'commit', 'sync', 'push', 'pull_request', 'complete')),
    begun_at timestamptz NOT NULL,
    done_at timestamptz,
    result jsonb NOT NULL,
    PRIMARY KEY (approval_id, workspace_id, step),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE CASCADE
);

-- Tickets whose work has come to its end, until the board is asked.
CREATE TABLE ticket_advances (
    issue_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    attempts integer NOT NULL CHECK (attempts >= 0),
    not_before timestamptz NOT NULL,
    error_code text,
    error text,
    created_at timestamptz NOT NULL,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
);
CREATE INDEX ticket_advances_due ON ticket_advances (not_before, issue_id);
CREATE INDEX heartbeat_runs_of_worktree ON heartbeat_runs (company_id, execution_workspace_id, id) WHERE execution_workspace_id IS NOT NULL;
