-- What was not in order when a run last began to work there.
ALTER TABLE execution_workspaces ADD COLUMN disorder text;
