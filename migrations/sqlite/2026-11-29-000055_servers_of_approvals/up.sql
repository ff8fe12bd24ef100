-- The server that takes the steps of an approval, or keeps runs out of a worktree, so that its
-- successor knows what it left.
ALTER TABLE approval_executions ADD COLUMN instance_id TEXT;
ALTER TABLE execution_workspaces ADD COLUMN held_by TEXT;
