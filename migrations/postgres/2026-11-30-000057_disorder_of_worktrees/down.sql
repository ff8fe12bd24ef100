ALTER TABLE execution_workspaces DROP COLUMN disorder;
