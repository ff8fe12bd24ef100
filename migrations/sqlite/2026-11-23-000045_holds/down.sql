DROP INDEX execution_workspaces_held;
