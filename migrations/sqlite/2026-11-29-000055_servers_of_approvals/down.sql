ALTER TABLE execution_workspaces DROP COLUMN held_by;
ALTER TABLE approval_executions DROP COLUMN instance_id;
