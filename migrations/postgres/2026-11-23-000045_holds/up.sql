-- Worktrees that runs are kept out of, which a server that starts again lets them into.
CREATE INDEX execution_workspaces_held ON execution_workspaces (held_until, id) WHERE held_until IS NOT NULL;

-- A statement whose words are parameters cannot use an index of rows with one of these words.
DROP INDEX approval_executions_live;
CREATE INDEX approval_executions_live ON approval_executions (lease_expires_at, approval_id) WHERE lease_expires_at IS NOT NULL;
DROP INDEX execution_workspaces_to_clean_up;
CREATE INDEX execution_workspaces_to_clean_up ON execution_workspaces (status, clean_up_after, id);
