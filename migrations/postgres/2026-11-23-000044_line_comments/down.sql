ALTER TABLE issue_comments DROP COLUMN position;
ALTER TABLE issue_comments DROP COLUMN review_id;
