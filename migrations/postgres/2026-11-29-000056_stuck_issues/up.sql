-- Open issues that nothing moves by itself, and why. Looked over every half a minute.
CREATE TABLE stuck_issues (
    issue_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
);
CREATE INDEX stuck_issues_by_age ON stuck_issues (company_id, since, issue_id);
CREATE INDEX issues_in_hand ON issues (company_id, id) WHERE status IN ('todo', 'in_progress', 'in_review', 'blocked') AND hidden_at IS NULL;
