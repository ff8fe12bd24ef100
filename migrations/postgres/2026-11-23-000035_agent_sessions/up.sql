-- What a run was started with, and what its program told in the end.
ALTER TABLE heartbeat_runs ADD COLUMN containment text;
ALTER TABLE heartbeat_runs ADD COLUMN session_id text;
ALTER TABLE heartbeat_runs ADD COLUMN session_resumed boolean
    CHECK (NOT session_resumed OR session_id IS NOT NULL);
ALTER TABLE heartbeat_runs ADD COLUMN prompt jsonb;
ALTER TABLE heartbeat_runs ADD COLUMN result_text text CHECK (octet_length(result_text) <= 16384);
ALTER TABLE heartbeat_runs ADD COLUMN retry_at timestamptz;

-- The conversation that an agent's program keeps about one task from run to run.
CREATE TABLE agent_sessions (
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    adapter_type text NOT NULL,
    task_key text NOT NULL,
    issue_id uuid,
    session_id text NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    directory text NOT NULL,
    fingerprint text NOT NULL,
    runs integer NOT NULL CHECK (runs >= 1),
    input_tokens bigint NOT NULL CHECK (input_tokens >= 0),
    usage_baseline text NOT NULL CHECK (octet_length(usage_baseline) <= 4096),
    last_result text CHECK (octet_length(last_result) <= 16384),
    begun_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    last_run_id uuid,
    PRIMARY KEY (company_id, agent_id, adapter_type, task_key),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, last_run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (last_run_id),
    CHECK (begun_at <= last_used_at)
);
CREATE INDEX agent_sessions_of_agent ON agent_sessions (company_id, agent_id, last_used_at, task_key, adapter_type);
CREATE INDEX agent_sessions_of_issue ON agent_sessions (company_id, issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX agent_sessions_of_run ON agent_sessions (company_id, last_run_id) WHERE last_run_id IS NOT NULL;

-- Until when the provider of a model wants to hear nothing from an account.
CREATE TABLE provider_gates (
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    account text NOT NULL CHECK (char_length(account) BETWEEN 1 AND 200),
    blocked_until timestamptz NOT NULL,
    reason text NOT NULL,
    noted_at timestamptz NOT NULL,
    run_id uuid,
    PRIMARY KEY (company_id, account),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (run_id)
);
CREATE INDEX provider_gates_by_end ON provider_gates (blocked_until);
CREATE INDEX provider_gates_of_run ON provider_gates (company_id, run_id) WHERE run_id IS NOT NULL;
