-- Why there is work to do on the issue of a wake: it waits while the wake is answered with advice.
-- Of a wake that is pending now nobody knows, so its work is asked for once more at worst.
ALTER TABLE wakes ADD COLUMN work_reason text;
UPDATE wakes SET work_reason = 'issue_assigned' WHERE status = 'pending' AND issue_id IS NOT NULL;
