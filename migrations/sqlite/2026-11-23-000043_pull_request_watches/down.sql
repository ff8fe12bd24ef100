DROP INDEX issues_of_worktree;
DROP INDEX execution_workspaces_to_clean_up;
ALTER TABLE execution_workspaces DROP COLUMN kept_because;
ALTER TABLE execution_workspaces DROP COLUMN clean_up_after;
DROP TABLE pull_request_watches;
