DROP INDEX heartbeat_runs_of_worktree;
DROP TABLE ticket_advances;
DROP TABLE approval_execution_steps;
DROP TABLE approval_executions;
DROP TRIGGER issues_unlink_tickets;
UPDATE issues SET execution_workspace_id = NULL WHERE execution_workspace_id IS NOT NULL;
UPDATE heartbeat_runs SET execution_workspace_id = NULL WHERE execution_workspace_id IS NOT NULL;
DROP TABLE execution_workspaces;
CREATE TABLE execution_workspaces (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    project_workspace_id TEXT NOT NULL,
    ticket_key TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_branch TEXT NOT NULL,
    path TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, project_workspace_id, ticket_key),
    FOREIGN KEY (company_id, project_workspace_id) REFERENCES project_workspaces (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER execution_workspaces_unlink AFTER DELETE ON execution_workspaces BEGIN
    UPDATE issues SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
    UPDATE heartbeat_runs SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
END;
