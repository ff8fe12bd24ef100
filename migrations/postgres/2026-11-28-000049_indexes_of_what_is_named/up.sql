-- Most issues name no goal and no parent, some no project, and a lease that is not a run's names no
-- run. Nobody looks for those that name none, yet every change of one wrote these indexes.
DROP INDEX issues_by_project;
DROP INDEX issues_by_goal;
DROP INDEX issues_by_parent;
DROP INDEX issue_leases_of_run;
CREATE INDEX issues_by_project ON issues (company_id, project_id, priority, updated_at DESC, id) WHERE project_id IS NOT NULL;
CREATE INDEX issues_by_goal ON issues (company_id, goal_id, priority, updated_at DESC, id) WHERE goal_id IS NOT NULL;
CREATE INDEX issues_by_parent ON issues (company_id, parent_id, priority, updated_at DESC, id) WHERE parent_id IS NOT NULL;
CREATE INDEX issue_leases_of_run ON issue_leases (company_id, run_id) WHERE run_id IS NOT NULL;
