//! The text of the statements, once for both databases.

macro_rules! agent_columns {
    () => {
        "agents.id, agents.company_id, agents.name, agents.url_key, agents.role, agents.title, \
         agents.icon, agents.capabilities, agents.reports_to, agents.lifecycle, \
         agents.lifecycle_at, agents.pause_reason, agents.consecutive_failures, \
         agents.backoff_until, agents.provider_account, agents.adapter_type, agents.adapter_config, agents.runtime_config, \
         agents.max_concurrent_runs, agents.heartbeat_interval_sec, agents.can_create_agents, agents.metadata, \
         agents.budget_monthly_cents, agents.budget_override_month, \
         agents.last_heartbeat_at, agents.created_at, agents.updated_at"
    };
}

/// Who presents a key. Values: digest, 1.
pub(super) const CREDENTIAL: &str = concat!(
    "SELECT agent_keys.id, agent_keys.company_id, agent_keys.agent_id, agent_keys.name, \
     agent_keys.prefix, agent_keys.key_hash, agent_keys.created_at, agent_keys.last_used_at, \
     agent_keys.revoked_at, ",
    agent_columns!(),
    ", companies.status FROM agent_keys INNER JOIN (agents INNER JOIN companies ON \
     agents.company_id = companies.id) ON agent_keys.agent_id = agents.id \
     WHERE agent_keys.key_hash = ? LIMIT ?"
);

/// One company. Values: id, 1.
pub(super) const COMPANY: &str = "SELECT id, name, description, status, budget_monthly_cents, \
     issue_prefix, require_board_approval_for_new_agents, review_required, max_concurrent_runs, \
     attachment_max_bytes, locale, brand_color, pause_reason, paused_at, archived_at, created_at, updated_at \
     FROM companies WHERE id = ? LIMIT ?";

/// One agent. Values: id, company, 1.
pub(super) const AGENT: &str = concat!(
    "SELECT ",
    agent_columns!(),
    " FROM agents WHERE agents.id = ? AND agents.company_id = ? LIMIT ?"
);

/// One project. Values: id, company, 1.
pub(super) const PROJECT: &str = "SELECT id, company_id, name, url_key, description, status, \
     lead_agent_id, target_date, color, review_required, archived_at, created_at, updated_at \
     FROM projects WHERE id = ? AND company_id = ? LIMIT ?";

macro_rules! issue_columns {
    () => {
        "id, company_id, number, identifier, project_id, goal_id, parent_id, title, description, \
         status, priority, assignee_agent_id, assignee_user_id, created_by_agent_id, \
         created_by_user_id, billing_code, ticket_key, request_depth, delegation, \
         assignee_adapter_overrides, execution_workspace_id, workflow_epoch, started_at, \
         last_started_at, completed_at, cancelled_at, hidden_at, created_at, updated_at, \
         created_by_board, implementer_agent_id"
    };
}

/// One issue. Values: id, company, 1.
pub(super) const ISSUE: &str = concat!(
    "SELECT ",
    issue_columns!(),
    " FROM issues WHERE id = ? AND company_id = ? LIMIT ?"
);

/// The first issues of one status in the order of the list. Values: company, status, how many.
pub(super) const ISSUES_BY_STATUS: &str = concat!(
    "SELECT ",
    issue_columns!(),
    " FROM issues WHERE company_id = ? AND hidden_at IS NULL AND status = ? \
     ORDER BY priority, updated_at DESC, id LIMIT ?"
);

/// A change of one row, some numbers of which are read afterwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    /// The change alone.
    pub(crate) change: &'static str,
    /// What reads the numbers then.
    pub(crate) read: &'static str,
    /// Both at once.
    pub(crate) returning: &'static str,
    /// How many of the values find the row. They are the last ones, and all that `read` takes.
    pub(crate) found_by: usize,
}

macro_rules! count {
    ($table:literal, $change:literal, $numbers:literal, $row:literal, $found_by:literal) => {
        Count {
            change: concat!("UPDATE ", $table, " SET ", $change, " WHERE ", $row),
            read: concat!("SELECT ", $numbers, " FROM ", $table, " WHERE ", $row),
            returning: concat!(
                "UPDATE ",
                $table,
                " SET ",
                $change,
                " WHERE ",
                $row,
                " RETURNING ",
                $numbers
            ),
            found_by: $found_by,
        }
    };
}

/// Takes the number of a new issue. Values: company.
pub(super) const NEXT_ISSUE_NUMBER: Count = count!(
    "company_counters",
    "issue_number = issue_number + 1",
    "issue_number",
    "company_id = ?",
    1
);

/// A new issue.
pub(super) const INSERT_ISSUE: &str = "INSERT INTO issues (id, company_id, number, identifier, \
     project_id, title, description, status, priority, created_by_agent_id, request_depth, \
     workflow_epoch, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Stores a changed issue. Values: status, assignee, begun, begun again, changed, company, id.
pub(super) const SAVE_ISSUE: &str = "UPDATE issues SET project_id = project_id, \
     goal_id = goal_id, parent_id = parent_id, title = title, description = description, \
     status = ?, priority = priority, assignee_agent_id = ?, \
     assignee_user_id = assignee_user_id, created_by_agent_id = created_by_agent_id, \
     created_by_user_id = created_by_user_id, created_by_board = created_by_board, \
     billing_code = billing_code, ticket_key = ticket_key, \
     request_depth = request_depth, delegation = delegation, \
     assignee_adapter_overrides = assignee_adapter_overrides, \
     execution_workspace_id = execution_workspace_id, workflow_epoch = workflow_epoch, \
     started_at = ?, last_started_at = ?, completed_at = completed_at, \
     cancelled_at = cancelled_at, hidden_at = hidden_at, updated_at = ?, \
     implementer_agent_id = implementer_agent_id WHERE company_id = ? AND id = ?";

/// A new comment.
pub(super) const INSERT_COMMENT: &str = "INSERT INTO issue_comments (id, company_id, issue_id, \
     author_agent_id, body, mentions, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)";

/// A text that an issue is found by. Values: company, issue, comment.
pub(super) const SQLITE_TEXT: &str = "INSERT INTO issue_texts (company_id, issue_id, comment_id, \
     pending) VALUES (?, ?, ?, 0)";

/// The terms of the text before. Values: terms.
pub(super) const SQLITE_TERMS: &str =
    "INSERT INTO issue_text_index (rowid, terms) VALUES (last_insert_rowid(), ?)";

/// A text that an issue is found by, with its terms. Values: company, issue, comment, terms.
pub(super) const POSTGRES_TEXT: &str = "INSERT INTO issue_texts (company_id, issue_id, \
     comment_id, pending, terms) \
     VALUES (?, ?, ?, false, array_to_tsvector(string_to_array(?, ' ')))";

/// The lease on an issue. Values: company, issue.
pub(super) const LEASE: &str = "SELECT issue_id, company_id, agent_id, run_id, fence, expires_at \
     FROM issue_leases WHERE company_id = ? AND issue_id IN (?)";

/// The labels of an issue. Values: company, issue.
pub(super) const LABELS: &str = "SELECT issue_labels.issue_id, labels.id, labels.company_id, \
     labels.name, labels.name_key, labels.color, labels.created_at, labels.updated_at \
     FROM issue_labels INNER JOIN labels ON issue_labels.label_id = labels.id \
     WHERE issue_labels.company_id = ? AND issue_labels.issue_id = ?";

/// What brings a ticket on, of one issue. Values: company, issue, 1.
pub(super) const ADVANCE: &str = "SELECT issue_id, company_id, attempts, not_before, error_code, \
     error, created_at FROM ticket_advances WHERE company_id = ? AND issue_id = ? LIMIT ?";

/// The leases on several issues. Values: issues.
pub(super) const LEASES: &str = "SELECT issue_id, company_id, agent_id, run_id, fence, expires_at \
     FROM issue_leases WHERE issue_id ?";

/// The labels of several issues. Values: company, issues.
pub(super) const LABELS_OF_SEVERAL: &str = "SELECT issue_labels.issue_id, labels.id, \
     labels.company_id, labels.name, labels.name_key, labels.color, labels.created_at, \
     labels.updated_at FROM issue_labels INNER JOIN labels ON issue_labels.label_id = labels.id \
     WHERE issue_labels.company_id = ? AND issue_labels.issue_id ?";

/// Those above an issue. Values: company, issue, company, depth, company.
pub(super) const PARENTS: &str = concat!(
    "WITH RECURSIVE chain (id, depth) AS ( \
         SELECT parent_id, 1 FROM issues WHERE company_id = ? AND id = ? \
         UNION ALL \
         SELECT i.parent_id, chain.depth + 1 \
         FROM chain CROSS JOIN issues i \
         WHERE i.company_id = ? AND i.id = chain.id AND chain.depth < ? \
     ), above AS (SELECT ",
    issue_columns!(),
    " FROM issues WHERE company_id = ?) \
     SELECT above.* FROM chain CROSS JOIN above WHERE above.id = chain.id ORDER BY chain.depth"
);

/// Projects. Values: company, projects.
pub(super) const PROJECTS: &str = "SELECT id, company_id, name, url_key, description, status, \
     lead_agent_id, target_date, target_is_day, color, review_required, budget_monthly_cents, \
     budget_total_cents, archived_at, created_at, updated_at, governance, remote_required \
     FROM projects WHERE company_id = ? AND id ?";

/// The goals of projects. Values: company, projects.
pub(super) const PROJECT_GOALS: &str = "SELECT project_goals.project_id, project_goals.goal_id, \
     goals.title FROM project_goals INNER JOIN goals ON project_goals.goal_id = goals.id \
     WHERE project_goals.company_id = ? AND project_goals.project_id ? \
     ORDER BY project_goals.project_id, project_goals.position, project_goals.goal_id";

/// The workspaces of projects. Values: company, projects.
pub(super) const WORKSPACES: &str = "SELECT id, company_id, project_id, name, cwd, repo_url, \
     repo_ref, default_base_branch, is_primary, metadata, created_at, updated_at \
     FROM project_workspaces WHERE company_id = ? AND project_id ? \
     ORDER BY project_id, is_primary DESC, created_at, id";

/// Goals. Values: company, goals.
pub(super) const GOALS: &str = "SELECT id, company_id, title, description, level, status, \
     parent_id, owner_agent_id, created_at, updated_at FROM goals WHERE company_id = ? AND id ?";

/// Those above an agent. Values: company, agent, company, depth, company.
pub(super) const CHAIN_OF_COMMAND: &str = "WITH RECURSIVE chain (id, depth) AS ( \
         SELECT reports_to, 1 FROM agents WHERE company_id = ? AND id = ? \
         UNION ALL \
         SELECT a.reports_to, chain.depth + 1 \
         FROM chain CROSS JOIN agents a \
         WHERE a.company_id = ? AND a.id = chain.id AND chain.depth < ? \
     ) \
     SELECT a.id, a.name, a.role, a.title \
     FROM chain CROSS JOIN agents a \
     WHERE a.company_id = ? AND a.id = chain.id \
     ORDER BY chain.depth";

/// The number of an agent's last revision. Values: company, agent.
pub(super) const LAST_REVISION: &str =
    "SELECT max(n) FROM agent_config_revisions WHERE company_id = ? AND agent_id = ?";

/// Whether an agent runs. Values: company, agents.
pub(super) const LIVE_RUNS: &str = "SELECT DISTINCT agent_id FROM heartbeat_runs \
     WHERE company_id = ? AND agent_id ? AND status = 'running'";

/// What a company spent and holds. Values: company three times, month.
pub(super) const COMPANY_SPEND: &str = "SELECT CAST(COALESCE(SUM(t.spent_micros), 0) AS BIGINT) AS actual, \
     CAST(COALESCE(SUM(t.estimated_micros), 0) AS BIGINT) AS estimated, \
     (SELECT CAST(COALESCE(SUM(h.held_micros), 0) AS BIGINT) FROM run_spends h \
     WHERE h.held_micros > 0 AND h.company_id = ?) AS held \
     FROM spend_totals t WHERE t.company_id = ? AND t.scope_type = 'company' \
     AND t.scope_id = ? AND t.month = ?";

/// What an agent spent and holds. Values: company, agent, both again, month.
pub(super) const AGENT_SPEND: &str = "SELECT CAST(COALESCE(SUM(t.spent_micros), 0) AS BIGINT) AS actual, \
     CAST(COALESCE(SUM(t.estimated_micros), 0) AS BIGINT) AS estimated, \
     (SELECT CAST(COALESCE(SUM(h.held_micros), 0) AS BIGINT) FROM run_spends h \
     WHERE h.held_micros > 0 AND h.company_id = ? AND h.agent_id = ?) AS held \
     FROM spend_totals t WHERE t.company_id = ? AND t.scope_type = 'agent' AND t.scope_id = ? \
     AND t.month = ?";

/// Takes the fencing number of a new lease. Values: company, issue.
pub(super) const NEXT_FENCE: Count = count!(
    "issues",
    "lease_fence = lease_fence + 1",
    "lease_fence",
    "company_id = ? AND id = ?",
    2
);

/// A new lease in the place of the old one. Values: issue, company, agent, fence, end.
pub(super) const PUT_LEASE: &str = "INSERT INTO issue_leases (issue_id, company_id, agent_id, \
     fence, expires_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (issue_id) DO UPDATE SET \
     company_id = excluded.company_id, agent_id = excluded.agent_id, run_id = NULL, \
     fence = excluded.fence, expires_at = excluded.expires_at";

/// Ends a lease. Values: company, issue.
pub(super) const END_LEASE: &str = "DELETE FROM issue_leases WHERE company_id = ? AND issue_id = ?";

/// The wake that an agent has not answered. Values: company, agent, key, 1.
pub(super) const PENDING_WAKE: &str = "SELECT id, company_id, agent_id, issue_id, coalesce_key, \
     kind, status, source, reasons, comment_ids, payload, count, not_before, run_id, requested_by, \
     created_at, updated_at FROM wakes WHERE company_id = ? AND agent_id = ? \
     AND coalesce_key = ? AND status = 'pending' LIMIT ?";

/// The plan that somebody has still to decide on, looked up from the issue outwards (SQLite keeps
/// the order of a `CROSS JOIN`). Values: company, issue, company, depth, and the
/// company three times more.
pub(super) const UNDECIDED_APPROVAL: &str = "WITH RECURSIVE chain (id, depth) AS ( \
         SELECT id, 0 FROM issues WHERE company_id = ? AND id = ? \
         UNION \
         SELECT i.parent_id, chain.depth + 1 \
         FROM chain CROSS JOIN issues i \
         WHERE i.company_id = ? AND i.id = chain.id AND i.parent_id IS NOT NULL \
             AND chain.depth < ? \
     ) \
     SELECT a.id, chain.depth \
     FROM chain CROSS JOIN approvals a \
     WHERE a.company_id = ? AND a.primary_issue_id = chain.id \
         AND a.type = 'approve_issue_plan' AND a.status IN ('pending', 'revision_requested') \
     UNION ALL \
     SELECT a.id, chain.depth \
     FROM chain CROSS JOIN approval_issues l CROSS JOIN approvals a \
     WHERE l.company_id = ? AND l.issue_id = chain.id AND a.company_id = ? \
         AND a.id = l.approval_id \
         AND a.type = 'approve_issue_plan' AND a.status IN ('pending', 'revision_requested') \
     ORDER BY 2, 1 LIMIT 1";

/// A new cost event.
pub(super) const INSERT_COST_EVENT: &str = "INSERT INTO cost_events (id, company_id, agent_id, \
     provider, model, billing_type, input_tokens, output_tokens, cached_input_tokens, \
     cache_write_tokens, cost_micros, source, counted, occurred_at, created_at) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds to a month's spend. Values: company, scope, spender, month, cost.
pub(super) const ADD_TO_TOTAL: &str = "INSERT INTO spend_totals (company_id, scope_type, \
     scope_id, month, spent_micros) VALUES (?, ?, ?, ?, ?) \
     ON CONFLICT (company_id, scope_type, scope_id, month) \
     DO UPDATE SET spent_micros = spend_totals.spent_micros + excluded.spent_micros \
     WHERE spend_totals.spent_micros <= 9223372036854775807 - excluded.spent_micros";

/// What happened.
pub(super) const INSERT_ACTIVITY: &str = "INSERT INTO activity (id, company_id, actor_type, \
     actor_id, agent_id, action, entity_type, entity_id, details, created_at) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Takes the numbers of events and the instant of activity. Values: how many, instant twice in
/// microseconds, company.
pub(super) const NEXT_EVENT_NUMBERS: Count = count!(
    "company_counters",
    "event_sequence = event_sequence + ?, \
     activity_clock = CASE WHEN activity_clock < ? THEN ? ELSE activity_clock + 1 END",
    "event_sequence, activity_clock",
    "company_id = ?",
    1
);

/// One event. Values: company, number, kind, payload, instant.
pub(super) const INSERT_EVENT: &str =
    "INSERT INTO events (company_id, seq, type, payload, created_at) VALUES (?, ?, ?, ?, ?)";

macro_rules! journal {
    ($for_each_event:literal) => {
        concat!(
            "WITH counters AS (UPDATE company_counters SET event_sequence = event_sequence + ?, \
             activity_clock = CASE WHEN activity_clock < ? THEN ? ELSE activity_clock + 1 END \
             WHERE company_id = ? RETURNING event_sequence AS last, \
             to_timestamp(0) + activity_clock * make_interval(secs => 0.000001) AS instant), \
             told AS (INSERT INTO events (company_id, seq, type, payload, created_at) \
             SELECT ?, last + place - ?, type, payload, created_at \
             FROM counters, unnest(ARRAY[",
            $for_each_event,
            "], ARRAY[",
            $for_each_event,
            "], ARRAY[",
            $for_each_event,
            "]) WITH ORDINALITY AS event (type, payload, created_at, place)), \
             logged AS (INSERT INTO activity (id, company_id, actor_type, actor_id, agent_id, \
             action, entity_type, entity_id, details, created_at) \
             SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, instant FROM counters) \
             SELECT pg_current_xact_id() FROM counters"
        )
    };
}

/// All of that at once, with one event. Values: how many events, instant twice in microseconds,
/// company, company, how many, kinds, payloads, instants, and those of the activity but its own.
pub(super) const POSTGRES_JOURNAL_OF_ONE: &str = journal!("?");

/// The same with two events.
pub(super) const POSTGRES_JOURNAL_OF_TWO: &str = journal!("?, ?");
