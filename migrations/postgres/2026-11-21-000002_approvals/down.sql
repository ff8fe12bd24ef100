DROP TABLE approval_comments;
DROP TABLE approval_events;
DROP TABLE approval_drafts;
DROP INDEX approval_issues_of_issue;
CREATE INDEX approval_issues_of_issue ON approval_issues (company_id, issue_id);
DROP INDEX approvals_by_type;
DROP INDEX approvals_by_status;
ALTER TABLE approvals DROP COLUMN attention;
ALTER TABLE approvals DROP COLUMN requested_by_board;
