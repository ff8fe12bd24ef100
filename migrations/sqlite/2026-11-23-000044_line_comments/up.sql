-- Which review a comment is part of, and the lines of a file that it is about.
ALTER TABLE issue_comments ADD COLUMN review_id TEXT;
ALTER TABLE issue_comments ADD COLUMN position TEXT;
