-- How often an approval was changed, so that the board agrees to what it has seen.
ALTER TABLE approvals ADD COLUMN revision integer NOT NULL DEFAULT 1 CHECK (revision > 0);
