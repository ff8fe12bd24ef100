-- Whether agents need an approved plan for the issues of a project.
ALTER TABLE projects ADD COLUMN governance text NOT NULL DEFAULT 'none' CHECK (governance IN ('none', 'required'));
-- Whose work on an issue is reviewed.
ALTER TABLE issues ADD COLUMN implementer_agent_id uuid;
ALTER TABLE issues ADD FOREIGN KEY (company_id, implementer_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (implementer_agent_id);
CREATE INDEX issues_by_implementer ON issues (company_id, implementer_agent_id) WHERE implementer_agent_id IS NOT NULL;
