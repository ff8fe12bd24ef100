-- Which installation this database is of. Data folders bear the same id, so that no server removes
-- what belongs to another database. `attachments` names where the bytes of attachments are.
CREATE TABLE installation (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    installation_id TEXT NOT NULL,
    attachments TEXT
) STRICT;
