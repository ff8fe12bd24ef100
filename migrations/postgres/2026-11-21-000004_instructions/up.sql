-- Where the instructions of an agent are. An agent without a row has those that
-- every agent of its role begins with.
CREATE TABLE instruction_bundles (
    agent_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    mode text NOT NULL CHECK (mode IN ('managed', 'external')),
    root_path text,
    entry_file text NOT NULL,
    version integer NOT NULL CHECK (version >= 0),
    updated_at timestamptz NOT NULL,
    CHECK ((mode = 'external') = (root_path IS NOT NULL)),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
);

-- The managed files of an agent, one row for each state they were in.
CREATE TABLE instruction_versions (
    agent_id uuid NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    company_id uuid NOT NULL,
    files jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (agent_id, version),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
);

-- What those files held, each content once.
CREATE TABLE instruction_contents (
    agent_id uuid NOT NULL,
    sha256 text NOT NULL CHECK (length(sha256) = 64),
    company_id uuid NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (agent_id, sha256),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
);

-- Which part of the board made it, where no person with an account did.
ALTER TABLE agent_config_revisions ADD COLUMN created_by_board text;
