DROP INDEX issues_counted_by_goal;
DROP INDEX issues_counted_by_project;
DROP INDEX cost_events_by_model;
