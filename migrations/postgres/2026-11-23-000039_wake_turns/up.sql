-- The turn of a wake in its company: a copy of its issue's priority stands in it, since no index
-- spans two tables.
ALTER TABLE wakes ADD COLUMN priority smallint NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 3);
UPDATE wakes SET priority = (SELECT i.priority FROM issues i WHERE i.id = wakes.issue_id)
WHERE status = 'pending' AND issue_id IS NOT NULL;
CREATE INDEX wakes_in_turn ON wakes (company_id, priority, created_at, id) WHERE status = 'pending';
DROP INDEX wakes_due;
