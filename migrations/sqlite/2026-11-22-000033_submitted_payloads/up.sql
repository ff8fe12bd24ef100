-- What was submitted by an entry: of those that were written before this nobody knows.
ALTER TABLE approval_events ADD COLUMN payload TEXT;
