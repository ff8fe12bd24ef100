-- What a run was started with, and what its program told in the end.
ALTER TABLE heartbeat_runs ADD COLUMN containment TEXT;
ALTER TABLE heartbeat_runs ADD COLUMN session_id TEXT;
ALTER TABLE heartbeat_runs ADD COLUMN session_resumed INTEGER
    CHECK (session_resumed IN (0, 1) AND (session_resumed = 0 OR session_id IS NOT NULL));
ALTER TABLE heartbeat_runs ADD COLUMN prompt TEXT;
ALTER TABLE heartbeat_runs ADD COLUMN result_text TEXT CHECK (length(CAST(result_text AS BLOB)) <= 16384);
ALTER TABLE heartbeat_runs ADD COLUMN retry_at INTEGER;

-- The conversation that an agent's program keeps about one task from run to run.
CREATE TABLE agent_sessions (
    company_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    adapter_type TEXT NOT NULL,
    task_key TEXT NOT NULL,
    issue_id TEXT,
    session_id TEXT NOT NULL CHECK (length(CAST(session_id AS BLOB)) BETWEEN 1 AND 512),
    directory TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    runs INTEGER NOT NULL CHECK (runs >= 1),
    input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
    usage_baseline TEXT NOT NULL CHECK (length(CAST(usage_baseline AS BLOB)) <= 4096),
    last_result TEXT CHECK (length(CAST(last_result AS BLOB)) <= 16384),
    begun_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    last_run_id TEXT,
    PRIMARY KEY (company_id, agent_id, adapter_type, task_key),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, last_run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE NO ACTION,
    CHECK (begun_at <= last_used_at)
) STRICT;
CREATE INDEX agent_sessions_of_agent ON agent_sessions (company_id, agent_id, last_used_at, task_key, adapter_type);
CREATE INDEX agent_sessions_of_issue ON agent_sessions (company_id, issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX agent_sessions_of_run ON agent_sessions (company_id, last_run_id) WHERE last_run_id IS NOT NULL;

-- Until when the provider of a model wants to hear nothing from an account.
CREATE TABLE provider_gates (
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    account TEXT NOT NULL CHECK (length(account) BETWEEN 1 AND 200),
    blocked_until INTEGER NOT NULL,
    reason TEXT NOT NULL,
    noted_at INTEGER NOT NULL,
    run_id TEXT,
    PRIMARY KEY (company_id, account),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE NO ACTION
) STRICT;
CREATE INDEX provider_gates_by_end ON provider_gates (blocked_until);
CREATE INDEX provider_gates_of_run ON provider_gates (company_id, run_id) WHERE run_id IS NOT NULL;

CREATE TRIGGER heartbeat_runs_unlink_sessions AFTER DELETE ON heartbeat_runs BEGIN
    UPDATE agent_sessions SET last_run_id = NULL WHERE company_id = OLD.company_id AND last_run_id = OLD.id;
    UPDATE provider_gates SET run_id = NULL WHERE company_id = OLD.company_id AND run_id = OLD.id;
END;
