DROP INDEX issue_leases_of_run;
DROP INDEX issues_by_parent;
DROP INDEX issues_by_goal;
DROP INDEX issues_by_project;
CREATE INDEX issues_by_project ON issues (company_id, project_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_goal ON issues (company_id, goal_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_parent ON issues (company_id, parent_id, priority, updated_at DESC, id);
CREATE INDEX issue_leases_of_run ON issue_leases (company_id, run_id);
