DROP INDEX issues_in_hand;
DROP TABLE stuck_issues;
