-- No version before this one made a worktree, so the table is empty.
DROP TRIGGER execution_workspaces_unlink;
DROP TABLE execution_workspaces;
CREATE TABLE execution_workspaces (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    project_workspace_id TEXT NOT NULL,
    ticket_key TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_branch TEXT NOT NULL,
    path TEXT NOT NULL,
    owner_issue_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('provisioning', 'ready', 'removed')),
    repository_url TEXT,
    fetch_address TEXT,
    push_address TEXT,
    base_commit TEXT,
    head_commit TEXT,
    pushed_commit TEXT,
    pull_request_number INTEGER,
    pull_request_url TEXT,
    pull_request_state TEXT CHECK (pull_request_state IN ('open', 'merged', 'closed')),
    conflict_wakes INTEGER NOT NULL CHECK (conflict_wakes >= 0),
    held_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, project_workspace_id, ticket_key),
    FOREIGN KEY (company_id, project_workspace_id) REFERENCES project_workspaces (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, owner_issue_id) REFERENCES issues (company_id, id) ON DELETE NO ACTION,
    CHECK ((pull_request_number IS NULL) = (pull_request_url IS NULL) AND (pull_request_number IS NULL) = (pull_request_state IS NULL))
) STRICT;
CREATE TRIGGER execution_workspaces_unlink AFTER DELETE ON execution_workspaces BEGIN
    UPDATE issues SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
    UPDATE heartbeat_runs SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
END;
CREATE TRIGGER issues_unlink_tickets AFTER DELETE ON issues BEGIN
    UPDATE execution_workspaces SET owner_issue_id = NULL WHERE company_id = OLD.company_id AND owner_issue_id = OLD.id;
END;
CREATE UNIQUE INDEX execution_workspaces_one_branch ON execution_workspaces (company_id, project_workspace_id, branch) WHERE status <> 'removed';
CREATE INDEX execution_workspaces_of_owner ON execution_workspaces (company_id, owner_issue_id, created_at, id);

-- What approvals do outside of the database, step by step.
CREATE TABLE approval_executions (
    approval_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('executing', 'failed', 'completed')),
    step TEXT NOT NULL CHECK (step IN ('source', 'base', 'worktree', 'commit', 'sync', 'push', 'pull_request', 'complete')),
    error_code TEXT,
    error TEXT,
    details TEXT NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts > 0),
    forced INTEGER NOT NULL CHECK (forced IN (0, 1)),
    decided_by TEXT NOT NULL,
    note TEXT,
    lease_expires_at INTEGER,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((state = 'executing') = (lease_expires_at IS NOT NULL)),
    CHECK ((state = 'failed') = (error_code IS NOT NULL)),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX approval_executions_live ON approval_executions (lease_expires_at) WHERE state = 'executing';

CREATE TABLE approval_execution_steps (
    approval_id TEXT NOT NULL,
    company_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('source', 'base', 'worktree', 'commit', 'sync', 'push', 'pull_request', 'complete')),
    begun_at INTEGER NOT NULL,
    done_at INTEGER,
    result TEXT NOT NULL,
    PRIMARY KEY (approval_id, workspace_id, step),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE CASCADE
) STRICT;

-- Tickets whose work has come to its end, until the board is asked.
CREATE TABLE ticket_advances (
    issue_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    not_before INTEGER NOT NULL,
    error_code TEXT,
    error TEXT,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX ticket_advances_due ON ticket_advances (not_before, issue_id);
CREATE INDEX heartbeat_runs_of_worktree ON heartbeat_runs (company_id, execution_workspace_id, id) WHERE execution_workspace_id IS NOT NULL;
