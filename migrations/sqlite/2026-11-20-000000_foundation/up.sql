-- Every table carries company_id and every reference is composite with it, so
-- that a link from one company to another cannot be stored. Instants are
-- microseconds since 1970 in UTC, keys are hyphenated UUIDs, documents are JSON.

CREATE TABLE companies (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    budget_monthly_cents INTEGER NOT NULL CHECK (budget_monthly_cents >= 0),
    issue_prefix TEXT NOT NULL UNIQUE,
    require_board_approval_for_new_agents INTEGER NOT NULL CHECK (require_board_approval_for_new_agents IN (0, 1)),
    review_required INTEGER NOT NULL CHECK (review_required IN (0, 1)),
    max_concurrent_runs INTEGER NOT NULL CHECK (max_concurrent_runs > 0),
    locale TEXT,
    brand_color TEXT,
    pause_reason TEXT CHECK (pause_reason IN ('manual', 'budget', 'system')),
    paused_at INTEGER,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((pause_reason IS NULL) = (paused_at IS NULL))
) STRICT;
CREATE INDEX companies_by_creation ON companies (created_at, id);
CREATE INDEX companies_stopped ON companies (pause_reason) WHERE pause_reason IS NOT NULL;

-- Counters stand apart from the company, so that taking a number does not
-- wait for whoever holds the company itself.
CREATE TABLE company_counters (
    company_id TEXT NOT NULL PRIMARY KEY REFERENCES companies (id) ON DELETE CASCADE,
    issue_number INTEGER NOT NULL,
    event_sequence INTEGER NOT NULL,
    last_dispatched_at INTEGER
) STRICT;

CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url_key TEXT NOT NULL,
    role TEXT NOT NULL,
    title TEXT,
    icon TEXT,
    capabilities TEXT,
    reports_to TEXT,
    lifecycle TEXT NOT NULL CHECK (lifecycle IN ('enabled', 'paused', 'pending_approval', 'terminated')),
    lifecycle_at INTEGER,
    pause_reason TEXT CHECK (pause_reason IN ('manual', 'budget', 'system')),
    consecutive_failures INTEGER NOT NULL,
    adapter_type TEXT NOT NULL,
    adapter_config TEXT NOT NULL,
    runtime_config TEXT NOT NULL,
    max_concurrent_runs INTEGER NOT NULL CHECK (max_concurrent_runs BETWEEN 1 AND 10),
    can_create_agents INTEGER NOT NULL CHECK (can_create_agents IN (0, 1)),
    metadata TEXT NOT NULL,
    budget_monthly_cents INTEGER NOT NULL CHECK (budget_monthly_cents >= 0),
    last_heartbeat_at INTEGER,
    next_heartbeat_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, url_key),
    FOREIGN KEY (company_id, reports_to) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    CHECK (reports_to IS NULL OR reports_to <> id),
    CHECK ((lifecycle = 'paused') = (pause_reason IS NOT NULL)),
    CHECK ((lifecycle IN ('paused', 'terminated')) = (lifecycle_at IS NOT NULL))
) STRICT;
CREATE INDEX agents_by_creation ON agents (company_id, created_at, id);
CREATE INDEX agents_by_manager ON agents (company_id, reports_to);
CREATE INDEX agents_stopped_by_budget ON agents (company_id, id) WHERE pause_reason = 'budget';

CREATE TABLE agent_keys (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX agent_keys_of_agent ON agent_keys (company_id, agent_id, created_at, id);

CREATE TABLE goals (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    level TEXT NOT NULL CHECK (level IN ('company', 'team', 'agent', 'task')),
    status TEXT NOT NULL CHECK (status IN ('planned', 'active', 'achieved', 'completed', 'cancelled')),
    parent_id TEXT,
    owner_agent_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, parent_id) REFERENCES goals (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, owner_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    CHECK (parent_id IS NULL OR parent_id <> id)
) STRICT;
CREATE INDEX goals_by_creation ON goals (company_id, created_at, id);
CREATE INDEX goals_by_parent ON goals (company_id, parent_id);

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url_key TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('backlog', 'planned', 'in_progress', 'completed', 'cancelled')),
    lead_agent_id TEXT,
    target_date INTEGER,
    color TEXT,
    review_required INTEGER NOT NULL CHECK (review_required IN (0, 1)),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, url_key),
    FOREIGN KEY (company_id, lead_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION
) STRICT;
CREATE INDEX projects_by_creation ON projects (company_id, created_at, id);

CREATE TABLE project_goals (
    company_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    goal_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (project_id, goal_id),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX project_goals_of_goal ON project_goals (company_id, goal_id);

CREATE TABLE project_workspaces (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    cwd TEXT,
    repo_url TEXT,
    repo_ref TEXT,
    default_base_branch TEXT,
    is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE CASCADE,
    CHECK (cwd IS NOT NULL OR repo_url IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX project_workspaces_one_primary ON project_workspaces (project_id) WHERE is_primary;
CREATE INDEX project_workspaces_of_project ON project_workspaces (company_id, project_id, created_at, id);

CREATE TABLE execution_workspaces (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    project_workspace_id TEXT NOT NULL,
    ticket_key TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_branch TEXT NOT NULL,
    path TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, project_workspace_id, ticket_key),
    FOREIGN KEY (company_id, project_workspace_id) REFERENCES project_workspaces (company_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE issues (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    identifier TEXT NOT NULL UNIQUE,
    project_id TEXT,
    goal_id TEXT,
    parent_id TEXT,
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'in_review', 'done', 'blocked', 'cancelled')),
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    assignee_agent_id TEXT,
    assignee_user_id TEXT,
    created_by_agent_id TEXT,
    created_by_user_id TEXT,
    billing_code TEXT,
    ticket_key TEXT,
    request_depth INTEGER NOT NULL,
    delegation TEXT,
    assignee_adapter_overrides TEXT,
    execution_workspace_id TEXT,
    workflow_epoch INTEGER NOT NULL,
    started_at INTEGER,
    last_started_at INTEGER,
    completed_at INTEGER,
    cancelled_at INTEGER,
    hidden_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The last fencing number given to a lease; outlives the leases.
    lease_fence INTEGER NOT NULL DEFAULT 0,
    UNIQUE (company_id, id),
    UNIQUE (company_id, number),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, parent_id) REFERENCES issues (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, assignee_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, execution_workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE NO ACTION,
    CHECK (assignee_agent_id IS NULL OR assignee_user_id IS NULL),
    CHECK (status <> 'in_progress' OR assignee_agent_id IS NOT NULL OR assignee_user_id IS NOT NULL),
    CHECK (parent_id IS NULL OR parent_id <> id),
    CHECK (status <> 'done' OR completed_at IS NOT NULL),
    CHECK (status <> 'cancelled' OR cancelled_at IS NOT NULL)
) STRICT;
CREATE INDEX issues_by_urgency ON issues (company_id, priority, updated_at DESC, id) WHERE hidden_at IS NULL;
CREATE INDEX issues_by_status ON issues (company_id, status, priority, updated_at DESC, id) WHERE hidden_at IS NULL;
CREATE INDEX issues_by_assignee ON issues (company_id, assignee_agent_id, status, priority, updated_at DESC, id);
CREATE INDEX issues_by_person ON issues (company_id, assignee_user_id, priority, updated_at DESC, id) WHERE assignee_user_id IS NOT NULL;
CREATE INDEX issues_by_project ON issues (company_id, project_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_goal ON issues (company_id, goal_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_parent ON issues (company_id, parent_id, priority, updated_at DESC, id);

-- One lease per issue; the row is deleted in the transaction that ends it.
CREATE TABLE issue_leases (
    issue_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    run_id TEXT,
    fence INTEGER NOT NULL,
    expires_at INTEGER,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE,
    CHECK ((run_id IS NULL) = (expires_at IS NOT NULL))
) STRICT;
CREATE INDEX issue_leases_of_run ON issue_leases (company_id, run_id);
CREATE INDEX issue_leases_of_agent ON issue_leases (company_id, agent_id);

CREATE TABLE issue_comments (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    author_agent_id TEXT,
    author_user_id TEXT,
    run_id TEXT,
    body TEXT NOT NULL,
    mentions TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, author_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE NO ACTION,
    CHECK (author_agent_id IS NULL OR author_user_id IS NULL)
) STRICT;
CREATE INDEX issue_comments_of_run ON issue_comments (company_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX issue_comments_of_issue ON issue_comments (company_id, issue_id, created_at, id);

CREATE TABLE heartbeat_runs (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    issue_id TEXT,
    execution_workspace_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('execution', 'consult', 'general')),
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    wake_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    token_hash BLOB UNIQUE CHECK (token_hash IS NULL OR length(token_hash) = 32),
    instance_id TEXT,
    lease_expires_at INTEGER,
    stop_requested_at INTEGER,
    stop_reason TEXT,
    exit_code INTEGER,
    signal INTEGER,
    error_code TEXT,
    error TEXT,
    log_bytes INTEGER NOT NULL,
    log_tail TEXT,
    started_at INTEGER,
    finished_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, execution_workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE NO ACTION,
    -- A token, a server and a lease belong to running runs and to no others.
    CHECK ((status = 'running') = (token_hash IS NOT NULL)),
    CHECK ((status = 'running') = (instance_id IS NOT NULL)),
    CHECK ((status = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX heartbeat_runs_one_per_workspace ON heartbeat_runs (execution_workspace_id) WHERE status = 'running';
CREATE UNIQUE INDEX heartbeat_runs_one_execution ON heartbeat_runs (issue_id) WHERE status = 'running' AND kind = 'execution';
CREATE INDEX heartbeat_runs_live ON heartbeat_runs (company_id, agent_id) WHERE status = 'running';
CREATE INDEX heartbeat_runs_leases ON heartbeat_runs (lease_expires_at, id) WHERE status = 'running';
CREATE INDEX heartbeat_runs_by_creation ON heartbeat_runs (company_id, created_at, id);
CREATE INDEX heartbeat_runs_by_status ON heartbeat_runs (company_id, status, created_at, id);
CREATE INDEX heartbeat_runs_of_agent ON heartbeat_runs (company_id, agent_id, created_at, id);
CREATE INDEX heartbeat_runs_of_issue ON heartbeat_runs (company_id, issue_id, created_at, id);

-- The processes of live runs; a row goes when the process group is empty.
CREATE TABLE run_processes (
    run_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_group INTEGER NOT NULL,
    start_ticks INTEGER NOT NULL,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE wakes (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    issue_id TEXT,
    coalesce_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('execution', 'consult', 'general')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'dispatched', 'skipped', 'cancelled')),
    source TEXT NOT NULL,
    reasons TEXT NOT NULL,
    comment_ids TEXT NOT NULL,
    payload TEXT NOT NULL,
    count INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    run_id TEXT NOT NULL UNIQUE,
    requested_by TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX wakes_one_pending ON wakes (agent_id, coalesce_key) WHERE status = 'pending';
CREATE INDEX wakes_due ON wakes (not_before, created_at) WHERE status = 'pending';
CREATE INDEX wakes_of_issue ON wakes (company_id, issue_id) WHERE status = 'pending';

CREATE TABLE cost_events (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    issue_id TEXT,
    project_id TEXT,
    goal_id TEXT,
    run_id TEXT,
    billing_code TEXT,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    billing_type TEXT NOT NULL CHECK (billing_type IN ('api', 'subscription')),
    input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    cached_input_tokens INTEGER NOT NULL CHECK (cached_input_tokens >= 0),
    cache_write_tokens INTEGER NOT NULL CHECK (cache_write_tokens >= 0),
    cost_micros INTEGER NOT NULL CHECK (cost_micros >= 0),
    source TEXT NOT NULL CHECK (source IN ('reported', 'metered')),
    counted INTEGER NOT NULL CHECK (counted IN (0, 1)),
    idempotency_key TEXT,
    occurred_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE NO ACTION
) STRICT;
CREATE UNIQUE INDEX cost_events_by_key ON cost_events (company_id, agent_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX cost_events_by_creation ON cost_events (company_id, created_at, id);
CREATE INDEX cost_events_by_agent ON cost_events (company_id, occurred_at, agent_id, billing_type, run_id, cost_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX cost_events_by_project ON cost_events (company_id, occurred_at, project_id, billing_type, run_id, cost_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX cost_events_of_issue ON cost_events (company_id, issue_id);
CREATE INDEX cost_events_of_run ON cost_events (company_id, run_id);

-- Running totals per month; the ledger itself is cost_events.
CREATE TABLE spend_totals (
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    scope_type TEXT NOT NULL CHECK (scope_type IN ('agent', 'company', 'project')),
    scope_id TEXT NOT NULL,
    month INTEGER NOT NULL,
    spent_micros INTEGER NOT NULL CHECK (spent_micros >= 0),
    PRIMARY KEY (company_id, scope_type, scope_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE budget_alerts (
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    scope_type TEXT NOT NULL CHECK (scope_type IN ('agent', 'company', 'project')),
    scope_id TEXT NOT NULL,
    month INTEGER NOT NULL,
    threshold TEXT NOT NULL CHECK (threshold IN ('soft', 'hard')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope_type, scope_id, month, threshold)
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled', 'revision_requested')),
    payload TEXT NOT NULL,
    requested_by_agent_id TEXT,
    requested_by_user_id TEXT,
    primary_issue_id TEXT,
    decision_note TEXT,
    decided_by TEXT,
    decided_at INTEGER,
    resubmit_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, requested_by_agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, primary_issue_id) REFERENCES issues (company_id, id) ON DELETE NO ACTION,
    CHECK (status NOT IN ('approved', 'rejected') OR (decided_by IS NOT NULL AND decided_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX approvals_one_actionable ON approvals (company_id, type, primary_issue_id) WHERE status IN ('pending', 'revision_requested');
CREATE INDEX approvals_by_creation ON approvals (company_id, created_at, id);

CREATE TABLE approval_issues (
    company_id TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    PRIMARY KEY (approval_id, issue_id),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX approval_issues_of_issue ON approval_issues (company_id, issue_id);

CREATE TABLE secrets (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    external_ref TEXT,
    description TEXT,
    latest_version INTEGER NOT NULL,
    created_by_agent_id TEXT,
    created_by_user_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, name),
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION
) STRICT;

CREATE TABLE secret_versions (
    company_id TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    sealed_value BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (secret_id, version),
    FOREIGN KEY (company_id, secret_id) REFERENCES secrets (company_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE agent_config_revisions (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    n INTEGER NOT NULL CHECK (n > 0),
    source TEXT NOT NULL,
    rolled_back_from TEXT,
    changed_keys TEXT NOT NULL,
    before_config BLOB,
    after_config BLOB NOT NULL,
    created_by_agent_id TEXT,
    created_by_user_id TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (agent_id, n),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, rolled_back_from) REFERENCES agent_config_revisions (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION
) STRICT;

CREATE TABLE activity (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    actor_type TEXT NOT NULL CHECK (actor_type IN ('board', 'agent', 'system')),
    actor_id TEXT NOT NULL,
    agent_id TEXT,
    run_id TEXT,
    action TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    details TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE NO ACTION
) STRICT;
CREATE INDEX activity_by_creation ON activity (company_id, created_at, id);
CREATE INDEX activity_of_entity ON activity (company_id, entity_type, entity_id, created_at, id);
CREATE INDEX activity_of_run ON activity (company_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX activity_of_agent ON activity (company_id, agent_id, created_at, id);

CREATE TABLE events (
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
    idem_scope TEXT NOT NULL,
    idem_key TEXT NOT NULL,
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (idem_scope, idem_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- A reference that may be empty is emptied when its target goes. SET NULL cannot be had here:
-- on a composite key it would clear company_id as well.
CREATE TRIGGER agents_unlink AFTER DELETE ON agents BEGIN
    UPDATE agents SET reports_to = NULL WHERE company_id = OLD.company_id AND reports_to = OLD.id;
    UPDATE goals SET owner_agent_id = NULL WHERE company_id = OLD.company_id AND owner_agent_id = OLD.id;
    UPDATE projects SET lead_agent_id = NULL WHERE company_id = OLD.company_id AND lead_agent_id = OLD.id;
    UPDATE issues SET created_by_agent_id = NULL WHERE company_id = OLD.company_id AND created_by_agent_id = OLD.id;
    UPDATE issue_comments SET author_agent_id = NULL WHERE company_id = OLD.company_id AND author_agent_id = OLD.id;
    UPDATE secrets SET created_by_agent_id = NULL WHERE company_id = OLD.company_id AND created_by_agent_id = OLD.id;
    UPDATE agent_config_revisions SET created_by_agent_id = NULL WHERE company_id = OLD.company_id AND created_by_agent_id = OLD.id;
    UPDATE activity SET agent_id = NULL WHERE company_id = OLD.company_id AND agent_id = OLD.id;
END;
CREATE TRIGGER goals_unlink AFTER DELETE ON goals BEGIN
    UPDATE goals SET parent_id = NULL WHERE company_id = OLD.company_id AND parent_id = OLD.id;
    UPDATE issues SET goal_id = NULL WHERE company_id = OLD.company_id AND goal_id = OLD.id;
    UPDATE cost_events SET goal_id = NULL WHERE company_id = OLD.company_id AND goal_id = OLD.id;
END;
CREATE TRIGGER projects_unlink AFTER DELETE ON projects BEGIN
    UPDATE issues SET project_id = NULL WHERE company_id = OLD.company_id AND project_id = OLD.id;
    UPDATE cost_events SET project_id = NULL WHERE company_id = OLD.company_id AND project_id = OLD.id;
END;
CREATE TRIGGER issues_unlink AFTER DELETE ON issues BEGIN
    UPDATE issues SET parent_id = NULL WHERE company_id = OLD.company_id AND parent_id = OLD.id;
    UPDATE cost_events SET issue_id = NULL WHERE company_id = OLD.company_id AND issue_id = OLD.id;
    UPDATE approvals SET primary_issue_id = NULL WHERE company_id = OLD.company_id AND primary_issue_id = OLD.id;
END;
CREATE TRIGGER execution_workspaces_unlink AFTER DELETE ON execution_workspaces BEGIN
    UPDATE issues SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
    UPDATE heartbeat_runs SET execution_workspace_id = NULL WHERE company_id = OLD.company_id AND execution_workspace_id = OLD.id;
END;
CREATE TRIGGER heartbeat_runs_unlink AFTER DELETE ON heartbeat_runs BEGIN
    UPDATE issue_comments SET run_id = NULL WHERE company_id = OLD.company_id AND run_id = OLD.id;
    UPDATE cost_events SET run_id = NULL WHERE company_id = OLD.company_id AND run_id = OLD.id;
    UPDATE activity SET run_id = NULL WHERE company_id = OLD.company_id AND run_id = OLD.id;
END;
CREATE TRIGGER agent_config_revisions_unlink AFTER DELETE ON agent_config_revisions BEGIN
    UPDATE agent_config_revisions SET rolled_back_from = NULL WHERE company_id = OLD.company_id AND rolled_back_from = OLD.id;
END;
