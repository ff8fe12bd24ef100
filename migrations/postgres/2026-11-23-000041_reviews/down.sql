DROP INDEX issues_by_implementer;
ALTER TABLE issues DROP COLUMN implementer_agent_id;
ALTER TABLE projects DROP COLUMN governance;
