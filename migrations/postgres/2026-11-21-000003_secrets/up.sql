-- Lists of secrets are read oldest first.
CREATE INDEX secrets_by_creation ON secrets (company_id, created_at, id);

-- A change of the master key looks for what is sealed under the former one.
CREATE INDEX secret_versions_by_key ON secret_versions (key_id);

-- Which agents refer to which secrets: derived from adapter_config whenever an agent is stored.
CREATE TABLE agent_secrets (
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    variable text NOT NULL,
    secret_id uuid NOT NULL,
    pinned_version integer CHECK (pinned_version > 0),
    PRIMARY KEY (agent_id, variable),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, secret_id) REFERENCES secrets (company_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_secrets_of_secret ON agent_secrets (company_id, secret_id, agent_id, variable);

-- Which runs were given which versions.
CREATE TABLE run_secrets (
    company_id uuid NOT NULL,
    run_id uuid NOT NULL,
    variable text NOT NULL,
    secret_id uuid NOT NULL,
    version integer NOT NULL CHECK (version >= 0),
    used_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, variable),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, secret_id) REFERENCES secrets (company_id, id) ON DELETE CASCADE
);
CREATE INDEX run_secrets_of_secret ON run_secrets (company_id, secret_id, used_at, run_id, variable);

-- One value sealed under the master key: a server with another key must not start.
CREATE TABLE vault_canary (
    id integer NOT NULL PRIMARY KEY CHECK (id = 1),
    sealed bytea NOT NULL
);
