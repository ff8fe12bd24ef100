-- Where the instructions of an agent are. An agent without a row has those that
-- every agent of its role begins with.
CREATE TABLE instruction_bundles (
    agent_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('managed', 'external')),
    root_path TEXT,
    entry_file TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 0),
    updated_at INTEGER NOT NULL,
    CHECK ((mode = 'external') = (root_path IS NOT NULL)),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
) STRICT;

-- The managed files of an agent, one row for each state they were in.
CREATE TABLE instruction_versions (
    agent_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    company_id TEXT NOT NULL,
    files TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, version),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
) STRICT;

-- What those files held, each content once.
CREATE TABLE instruction_contents (
    agent_id TEXT NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    company_id TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (agent_id, sha256),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
) STRICT;

-- Which part of the board made it, where no person with an account did.
ALTER TABLE agent_config_revisions ADD COLUMN created_by_board TEXT;
