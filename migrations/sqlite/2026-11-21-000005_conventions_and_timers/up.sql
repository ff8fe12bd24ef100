-- What the agents of a project are told before they work, and its short form.
CREATE TABLE project_conventions (
    project_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    backstory TEXT NOT NULL,
    conventions_md TEXT NOT NULL,
    extra_references TEXT NOT NULL,
    compact_context TEXT,
    compact_source TEXT CHECK (compact_source IN ('manual', 'generated')),
    compact_max_chars INTEGER,
    compact_source_hash BLOB CHECK (compact_source_hash IS NULL OR length(compact_source_hash) = 32),
    updated_at INTEGER NOT NULL,
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE CASCADE,
    CHECK ((compact_context IS NULL) = (compact_source IS NULL)),
    CHECK ((compact_context IS NULL) = (compact_source_hash IS NULL)),
    CHECK ((compact_max_chars IS NOT NULL) = (compact_source IS NOT NULL AND compact_source = 'generated'))
) STRICT;
CREATE INDEX project_conventions_of_company ON project_conventions (company_id, project_id);

-- A timer follows what the configuration and the lifecycle say: the interval is a copy of
-- them, and a timer whose interval is another than the one it was set for is set anew.
ALTER TABLE agents ADD COLUMN heartbeat_interval_sec INTEGER CHECK (heartbeat_interval_sec > 0);
ALTER TABLE agents ADD COLUMN heartbeat_armed_sec INTEGER;
ALTER TABLE agents ADD COLUMN suppressed_wakes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_timers_due ON agents (next_heartbeat_at, id) WHERE next_heartbeat_at IS NOT NULL;
CREATE INDEX agents_timers_to_set ON agents (id) WHERE heartbeat_interval_sec IS DISTINCT FROM heartbeat_armed_sec;

-- What waits for an agent.
CREATE INDEX wakes_of_agent ON wakes (company_id, agent_id, created_at, id) WHERE status = 'pending';

-- What the dashboard counts: issues by status and by the day they were done, and the runs
-- that were live some time ago.
CREATE INDEX issues_counted ON issues (company_id, status, completed_at) WHERE hidden_at IS NULL;
CREATE INDEX heartbeat_runs_by_end ON heartbeat_runs (company_id, finished_at, started_at, agent_id) WHERE finished_at IS NOT NULL;

-- What was done within a run, in its order.
DROP INDEX activity_of_run;
CREATE INDEX activity_of_run ON activity (company_id, run_id, created_at, id) WHERE run_id IS NOT NULL;
