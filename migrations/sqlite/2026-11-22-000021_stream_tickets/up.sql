-- What opens a stream of events once, in the place of a credential.
CREATE TABLE stream_tickets (
    ticket_hash BLOB NOT NULL PRIMARY KEY CHECK (length(ticket_hash) = 32),
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX stream_tickets_by_holder ON stream_tickets (company_id, holder, expires_at);
CREATE INDEX stream_tickets_by_expiry ON stream_tickets (expires_at);
