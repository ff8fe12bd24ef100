ALTER TABLE issue_comments DROP COLUMN author_board;
ALTER TABLE issues DROP COLUMN created_by_board;
DROP TABLE board_tokens;
