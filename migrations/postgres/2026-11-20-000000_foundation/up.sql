-- Every table carries company_id and every reference is composite with it, so
-- that a link from one company to another cannot be stored. A reference that
-- may be empty is emptied when its target goes.

CREATE TABLE companies (
    id uuid NOT NULL PRIMARY KEY,
    name text NOT NULL,
    description text,
    status text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    budget_monthly_cents bigint NOT NULL CHECK (budget_monthly_cents >= 0),
    issue_prefix text NOT NULL UNIQUE,
    require_board_approval_for_new_agents boolean NOT NULL,
    review_required boolean NOT NULL,
    max_concurrent_runs integer NOT NULL CHECK (max_concurrent_runs > 0),
    locale text,
    brand_color text,
    pause_reason text CHECK (pause_reason IN ('manual', 'budget', 'system')),
    paused_at timestamptz,
    archived_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((pause_reason IS NULL) = (paused_at IS NULL))
);
CREATE INDEX companies_by_creation ON companies (created_at, id);
CREATE INDEX companies_stopped ON companies (pause_reason) WHERE pause_reason IS NOT NULL;

-- Counters stand apart from the company, so that taking a number does not
-- wait for whoever holds the company itself.
CREATE TABLE company_counters (
    company_id uuid NOT NULL PRIMARY KEY REFERENCES companies (id) ON DELETE CASCADE,
    issue_number bigint NOT NULL,
    event_sequence bigint NOT NULL,
    last_dispatched_at timestamptz
);

CREATE TABLE agents (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name text NOT NULL,
    url_key text NOT NULL,
    role text NOT NULL,
    title text,
    icon text,
    capabilities text,
    reports_to uuid,
    lifecycle text NOT NULL CHECK (lifecycle IN ('enabled', 'paused', 'pending_approval', 'terminated')),
    lifecycle_at timestamptz,
    pause_reason text CHECK (pause_reason IN ('manual', 'budget', 'system')),
    consecutive_failures integer NOT NULL,
    adapter_type text NOT NULL,
    adapter_config jsonb NOT NULL,
    runtime_config jsonb NOT NULL,
    max_concurrent_runs integer NOT NULL CHECK (max_concurrent_runs BETWEEN 1 AND 10),
    can_create_agents boolean NOT NULL,
    metadata jsonb NOT NULL,
    budget_monthly_cents bigint NOT NULL CHECK (budget_monthly_cents >= 0),
    last_heartbeat_at timestamptz,
    next_heartbeat_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, url_key),
    FOREIGN KEY (company_id, reports_to) REFERENCES agents (company_id, id) ON DELETE SET NULL (reports_to),
    CHECK (reports_to IS NULL OR reports_to <> id),
    CHECK ((lifecycle = 'paused') = (pause_reason IS NOT NULL)),
    CHECK ((lifecycle IN ('paused', 'terminated')) = (lifecycle_at IS NOT NULL))
);
CREATE INDEX agents_by_creation ON agents (company_id, created_at, id);
CREATE INDEX agents_by_manager ON agents (company_id, reports_to);
CREATE INDEX agents_stopped_by_budget ON agents (company_id, id) WHERE pause_reason = 'budget';

CREATE TABLE agent_keys (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_keys_of_agent ON agent_keys (company_id, agent_id, created_at, id);

CREATE TABLE goals (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    title text NOT NULL,
    description text,
    level text NOT NULL CHECK (level IN ('company', 'team', 'agent', 'task')),
    status text NOT NULL CHECK (status IN ('planned', 'active', 'achieved', 'completed', 'cancelled')),
    parent_id uuid,
    owner_agent_id uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, parent_id) REFERENCES goals (company_id, id) ON DELETE SET NULL (parent_id),
    FOREIGN KEY (company_id, owner_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (owner_agent_id),
    CHECK (parent_id IS NULL OR parent_id <> id)
);
CREATE INDEX goals_by_creation ON goals (company_id, created_at, id);
CREATE INDEX goals_by_parent ON goals (company_id, parent_id);

CREATE TABLE projects (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name text NOT NULL,
    url_key text NOT NULL,
    description text,
    status text NOT NULL CHECK (status IN ('backlog', 'planned', 'in_progress', 'completed', 'cancelled')),
    lead_agent_id uuid,
    target_date timestamptz,
    color text,
    review_required boolean NOT NULL,
    archived_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, url_key),
    FOREIGN KEY (company_id, lead_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (lead_agent_id)
);
CREATE INDEX projects_by_creation ON projects (company_id, created_at, id);

CREATE TABLE project_goals (
    company_id uuid NOT NULL,
    project_id uuid NOT NULL,
    goal_id uuid NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (project_id, goal_id),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE CASCADE
);
CREATE INDEX project_goals_of_goal ON project_goals (company_id, goal_id);

CREATE TABLE project_workspaces (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    cwd text,
    repo_url text,
    repo_ref text,
    default_base_branch text,
    is_primary boolean NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE CASCADE,
    CHECK (cwd IS NOT NULL OR repo_url IS NOT NULL)
);
CREATE UNIQUE INDEX project_workspaces_one_primary ON project_workspaces (project_id) WHERE is_primary;
CREATE INDEX project_workspaces_of_project ON project_workspaces (company_id, project_id, created_at, id);

CREATE TABLE execution_workspaces (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    project_workspace_id uuid NOT NULL,
    ticket_key text NOT NULL,
    branch text NOT NULL,
    base_branch text NOT NULL,
    path text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, project_workspace_id, ticket_key),
    FOREIGN KEY (company_id, project_workspace_id) REFERENCES project_workspaces (company_id, id) ON DELETE CASCADE
);

CREATE TABLE issues (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    identifier text NOT NULL UNIQUE,
    project_id uuid,
    goal_id uuid,
    parent_id uuid,
    title text NOT NULL,
    description text,
    status text NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'in_review', 'done', 'blocked', 'cancelled')),
    priority smallint NOT NULL CHECK (priority BETWEEN 0 AND 3),
    assignee_agent_id uuid,
    assignee_user_id uuid,
    created_by_agent_id uuid,
    created_by_user_id uuid,
    billing_code text,
    ticket_key text,
    request_depth integer NOT NULL,
    delegation jsonb,
    assignee_adapter_overrides jsonb,
    execution_workspace_id uuid,
    workflow_epoch integer NOT NULL,
    started_at timestamptz,
    last_started_at timestamptz,
    completed_at timestamptz,
    cancelled_at timestamptz,
    hidden_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- The last fencing number given to a lease; outlives the leases.
    lease_fence bigint NOT NULL DEFAULT 0,
    UNIQUE (company_id, id),
    UNIQUE (company_id, number),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE SET NULL (project_id),
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE SET NULL (goal_id),
    FOREIGN KEY (company_id, parent_id) REFERENCES issues (company_id, id) ON DELETE SET NULL (parent_id),
    FOREIGN KEY (company_id, assignee_agent_id) REFERENCES agents (company_id, id) ON DELETE NO ACTION,
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (created_by_agent_id),
    FOREIGN KEY (company_id, execution_workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE SET NULL (execution_workspace_id),
    CHECK (assignee_agent_id IS NULL OR assignee_user_id IS NULL),
    CHECK (status <> 'in_progress' OR assignee_agent_id IS NOT NULL OR assignee_user_id IS NOT NULL),
    CHECK (parent_id IS NULL OR parent_id <> id),
    CHECK (status <> 'done' OR completed_at IS NOT NULL),
    CHECK (status <> 'cancelled' OR cancelled_at IS NOT NULL)
);
CREATE INDEX issues_by_urgency ON issues (company_id, priority, updated_at DESC, id) WHERE hidden_at IS NULL;
CREATE INDEX issues_by_status ON issues (company_id, status, priority, updated_at DESC, id) WHERE hidden_at IS NULL;
CREATE INDEX issues_by_assignee ON issues (company_id, assignee_agent_id, status, priority, updated_at DESC, id);
CREATE INDEX issues_by_person ON issues (company_id, assignee_user_id, priority, updated_at DESC, id) WHERE assignee_user_id IS NOT NULL;
CREATE INDEX issues_by_project ON issues (company_id, project_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_goal ON issues (company_id, goal_id, priority, updated_at DESC, id);
CREATE INDEX issues_by_parent ON issues (company_id, parent_id, priority, updated_at DESC, id);

-- One lease per issue; the row is deleted in the transaction that ends it.
CREATE TABLE issue_leases (
    issue_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    run_id uuid,
    fence bigint NOT NULL,
    expires_at timestamptz,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    CHECK ((run_id IS NULL) = (expires_at IS NOT NULL))
);
CREATE INDEX issue_leases_of_run ON issue_leases (company_id, run_id);
CREATE INDEX issue_leases_of_agent ON issue_leases (company_id, agent_id);

CREATE TABLE issue_comments (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    issue_id uuid NOT NULL,
    author_agent_id uuid,
    author_user_id uuid,
    run_id uuid,
    body text NOT NULL,
    mentions jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, author_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (author_agent_id),
    CHECK (author_agent_id IS NULL OR author_user_id IS NULL)
);
CREATE INDEX issue_comments_of_run ON issue_comments (company_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX issue_comments_of_issue ON issue_comments (company_id, issue_id, created_at, id);

CREATE TABLE heartbeat_runs (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    agent_id uuid NOT NULL,
    issue_id uuid,
    execution_workspace_id uuid,
    kind text NOT NULL CHECK (kind IN ('execution', 'consult', 'general')),
    status text NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    source text NOT NULL,
    reason text NOT NULL,
    wake_id uuid NOT NULL,
    fence bigint NOT NULL,
    token_hash bytea UNIQUE CHECK (token_hash IS NULL OR octet_length(token_hash) = 32),
    instance_id uuid,
    lease_expires_at timestamptz,
    stop_requested_at timestamptz,
    stop_reason text,
    exit_code integer,
    signal integer,
    error_code text,
    error text,
    log_bytes bigint NOT NULL,
    log_tail text,
    started_at timestamptz,
    finished_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, execution_workspace_id) REFERENCES execution_workspaces (company_id, id) ON DELETE SET NULL (execution_workspace_id),
    -- A token, a server and a lease belong to running runs and to no others.
    CHECK ((status = 'running') = (token_hash IS NOT NULL)),
    CHECK ((status = 'running') = (instance_id IS NOT NULL)),
    CHECK ((status = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
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
    run_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    pid integer NOT NULL,
    process_group integer NOT NULL,
    start_ticks bigint NOT NULL,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE
);

CREATE TABLE wakes (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    issue_id uuid,
    coalesce_key text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('execution', 'consult', 'general')),
    status text NOT NULL CHECK (status IN ('pending', 'dispatched', 'skipped', 'cancelled')),
    source text NOT NULL,
    reasons jsonb NOT NULL,
    comment_ids jsonb NOT NULL,
    payload jsonb NOT NULL,
    count integer NOT NULL,
    not_before timestamptz NOT NULL,
    run_id uuid NOT NULL UNIQUE,
    requested_by text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX wakes_one_pending ON wakes (agent_id, coalesce_key) WHERE status = 'pending';
CREATE INDEX wakes_due ON wakes (not_before, created_at) WHERE status = 'pending';
CREATE INDEX wakes_of_issue ON wakes (company_id, issue_id) WHERE status = 'pending';

CREATE TABLE cost_events (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    agent_id uuid NOT NULL,
    issue_id uuid,
    project_id uuid,
    goal_id uuid,
    run_id uuid,
    billing_code text,
    provider text NOT NULL,
    model text NOT NULL,
    billing_type text NOT NULL CHECK (billing_type IN ('api', 'subscription')),
    input_tokens bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens bigint NOT NULL CHECK (output_tokens >= 0),
    cached_input_tokens bigint NOT NULL CHECK (cached_input_tokens >= 0),
    cache_write_tokens bigint NOT NULL CHECK (cache_write_tokens >= 0),
    cost_micros bigint NOT NULL CHECK (cost_micros >= 0),
    source text NOT NULL CHECK (source IN ('reported', 'metered')),
    counted boolean NOT NULL,
    idempotency_key text,
    occurred_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE SET NULL (issue_id),
    FOREIGN KEY (company_id, project_id) REFERENCES projects (company_id, id) ON DELETE SET NULL (project_id),
    FOREIGN KEY (company_id, goal_id) REFERENCES goals (company_id, id) ON DELETE SET NULL (goal_id),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (run_id)
);
CREATE UNIQUE INDEX cost_events_by_key ON cost_events (company_id, agent_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX cost_events_by_creation ON cost_events (company_id, created_at, id);
CREATE INDEX cost_events_by_agent ON cost_events (company_id, occurred_at, agent_id, billing_type, run_id, cost_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX cost_events_by_project ON cost_events (company_id, occurred_at, project_id, billing_type, run_id, cost_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX cost_events_of_issue ON cost_events (company_id, issue_id);
CREATE INDEX cost_events_of_run ON cost_events (company_id, run_id);

-- Running totals per month; the ledger itself is cost_events.
CREATE TABLE spend_totals (
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    scope_type text NOT NULL CHECK (scope_type IN ('agent', 'company', 'project')),
    scope_id uuid NOT NULL,
    month integer NOT NULL,
    spent_micros bigint NOT NULL CHECK (spent_micros >= 0),
    PRIMARY KEY (company_id, scope_type, scope_id, month)
);

CREATE TABLE budget_alerts (
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    scope_type text NOT NULL CHECK (scope_type IN ('agent', 'company', 'project')),
    scope_id uuid NOT NULL,
    month integer NOT NULL,
    threshold text NOT NULL CHECK (threshold IN ('soft', 'hard')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (company_id, scope_type, scope_id, month, threshold)
);

CREATE TABLE approvals (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    type text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled', 'revision_requested')),
    payload jsonb NOT NULL,
    requested_by_agent_id uuid,
    requested_by_user_id uuid,
    primary_issue_id uuid,
    decision_note text,
    decided_by text,
    decided_at timestamptz,
    resubmit_count integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, requested_by_agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, primary_issue_id) REFERENCES issues (company_id, id) ON DELETE SET NULL (primary_issue_id),
    CHECK (status NOT IN ('approved', 'rejected') OR (decided_by IS NOT NULL AND decided_at IS NOT NULL))
);
CREATE UNIQUE INDEX approvals_one_actionable ON approvals (company_id, type, primary_issue_id) WHERE status IN ('pending', 'revision_requested');
CREATE INDEX approvals_by_creation ON approvals (company_id, created_at, id);

CREATE TABLE approval_issues (
    company_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    issue_id uuid NOT NULL,
    PRIMARY KEY (approval_id, issue_id),
    FOREIGN KEY (company_id, approval_id) REFERENCES approvals (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
);
CREATE INDEX approval_issues_of_issue ON approval_issues (company_id, issue_id);

CREATE TABLE secrets (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name text NOT NULL,
    provider text NOT NULL,
    external_ref text,
    description text,
    latest_version integer NOT NULL,
    created_by_agent_id uuid,
    created_by_user_id uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, name),
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (created_by_agent_id)
);

CREATE TABLE secret_versions (
    company_id uuid NOT NULL,
    secret_id uuid NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    key_id text NOT NULL,
    wrapped_key bytea NOT NULL,
    sealed_value bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (secret_id, version),
    FOREIGN KEY (company_id, secret_id) REFERENCES secrets (company_id, id) ON DELETE CASCADE
);

CREATE TABLE agent_config_revisions (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    n integer NOT NULL CHECK (n > 0),
    source text NOT NULL,
    rolled_back_from uuid,
    changed_keys jsonb NOT NULL,
    before_config bytea,
    after_config bytea NOT NULL,
    created_by_agent_id uuid,
    created_by_user_id uuid,
    created_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (agent_id, n),
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, rolled_back_from) REFERENCES agent_config_revisions (company_id, id) ON DELETE SET NULL (rolled_back_from),
    FOREIGN KEY (company_id, created_by_agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (created_by_agent_id)
);

CREATE TABLE activity (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    actor_type text NOT NULL CHECK (actor_type IN ('board', 'agent', 'system')),
    actor_id text NOT NULL,
    agent_id uuid,
    run_id uuid,
    action text NOT NULL,
    entity_type text NOT NULL,
    entity_id text NOT NULL,
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id) ON DELETE SET NULL (agent_id),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (run_id)
);
CREATE INDEX activity_by_creation ON activity (company_id, created_at, id);
CREATE INDEX activity_of_entity ON activity (company_id, entity_type, entity_id, created_at, id);
CREATE INDEX activity_of_run ON activity (company_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX activity_of_agent ON activity (company_id, agent_id, created_at, id);

CREATE TABLE events (
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (company_id, seq)
);

CREATE TABLE idempotency_keys (
    idem_scope text NOT NULL,
    idem_key text NOT NULL,
    request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    status integer NOT NULL,
    body bytea NOT NULL,
    sealed boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (idem_scope, idem_key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- These two point forward.
ALTER TABLE issue_leases ADD FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE;
ALTER TABLE issue_comments ADD FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE SET NULL (run_id);
