DROP TABLE issue_attachments;
DROP TABLE assets;
