-- The most bytes that an attachment of the company may have; none for the server's own limit.
ALTER TABLE companies ADD COLUMN attachment_max_bytes INTEGER
    CHECK (attachment_max_bytes BETWEEN 1 AND 5368709120);

-- Wakes that came to an end, to be forgotten with age.
CREATE INDEX wakes_ended ON wakes (updated_at, id) WHERE status <> 'pending';
