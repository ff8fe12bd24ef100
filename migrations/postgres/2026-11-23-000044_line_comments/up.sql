-- Which review a comment is part of, and the lines of a file that it is about.
ALTER TABLE issue_comments ADD COLUMN review_id uuid;
ALTER TABLE issue_comments ADD COLUMN position jsonb;
