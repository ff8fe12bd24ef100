DROP TABLE issue_labels;
DROP TABLE labels;
