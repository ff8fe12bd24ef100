DROP TRIGGER issue_comments_unlink;
DROP TRIGGER agents_unlink_attachments;
DROP TABLE issue_attachments;
DROP TABLE assets;
