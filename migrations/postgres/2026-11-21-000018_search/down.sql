DROP TABLE issue_child_keys;
DROP TABLE issue_texts;
