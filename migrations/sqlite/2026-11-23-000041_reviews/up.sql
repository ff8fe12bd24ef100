-- Whether agents need an approved plan for the issues of a project.
ALTER TABLE projects ADD COLUMN governance TEXT NOT NULL DEFAULT 'none' CHECK (governance IN ('none', 'required'));
-- Whose work on an issue is reviewed. No statement adds a reference of two columns to a table, and
-- to make the table anew would delete what refers to it, so that its text is changed before the
-- column is added, which reads the text again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '    CHECK (assignee_agent_id IS NULL OR assignee_user_id IS NULL),', '    FOREIGN KEY (company_id, implementer_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    CHECK (assignee_agent_id IS NULL OR assignee_user_id IS NULL),')
WHERE type = 'table' AND name = 'issues';
ALTER TABLE issues ADD COLUMN implementer_agent_id TEXT;
PRAGMA writable_schema = OFF;
CREATE INDEX issues_by_implementer ON issues (company_id, implementer_agent_id) WHERE implementer_agent_id IS NOT NULL;
CREATE TRIGGER agents_unlink_implementers AFTER DELETE ON agents BEGIN
    UPDATE issues SET implementer_agent_id = NULL WHERE company_id = OLD.company_id AND implementer_agent_id = OLD.id;
END;
