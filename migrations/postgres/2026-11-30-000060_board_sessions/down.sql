DROP TABLE login_links;
DROP TABLE board_sessions;
