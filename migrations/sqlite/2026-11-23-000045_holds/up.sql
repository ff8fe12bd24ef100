-- Worktrees that runs are kept out of, which a server that starts again lets them into.
CREATE INDEX execution_workspaces_held ON execution_workspaces (held_until, id) WHERE held_until IS NOT NULL;
