DROP INDEX execution_workspaces_to_clean_up;
CREATE INDEX execution_workspaces_to_clean_up ON execution_workspaces (clean_up_after, id) WHERE status = 'ready';
DROP INDEX approval_executions_live;
CREATE INDEX approval_executions_live ON approval_executions (lease_expires_at) WHERE state = 'executing';
DROP INDEX execution_workspaces_held;
