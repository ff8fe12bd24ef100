ALTER TABLE approvals DROP COLUMN revision;
