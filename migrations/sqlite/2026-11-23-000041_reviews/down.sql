DROP TRIGGER agents_unlink_implementers;
DROP INDEX issues_by_implementer;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '    FOREIGN KEY (company_id, implementer_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
', '')
WHERE type = 'table' AND name = 'issues';
PRAGMA writable_schema = RESET;
ALTER TABLE issues DROP COLUMN implementer_agent_id;
ALTER TABLE projects DROP COLUMN governance;
