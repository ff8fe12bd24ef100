//! The tables, once for both databases: the types that differ are in
//! [`columns`](super::columns).

mod agent;
mod attachment;
mod board;
mod company;
mod governance;
mod instructions;
mod issue;
mod money;
mod planning;
mod record;
mod run;
mod secret;
mod server;
mod session;

pub(super) use agent::*;
pub(super) use attachment::*;
pub(super) use board::*;
pub(super) use company::*;
pub(super) use governance::*;
pub(super) use instructions::*;
pub(super) use issue::*;
pub(super) use money::*;
pub(super) use planning::*;
pub(super) use record::*;
pub(super) use run::*;
pub(super) use secret::*;
pub(super) use server::*;
pub(super) use session::*;

diesel::joinable!(agents -> companies (company_id));
diesel::joinable!(company_counters -> companies (company_id));
diesel::joinable!(agent_keys -> agents (agent_id));
diesel::joinable!(heartbeat_runs -> agents (agent_id));
diesel::joinable!(heartbeat_runs -> issues (issue_id));
diesel::joinable!(wakes -> agents (agent_id));
diesel::joinable!(wakes -> heartbeat_runs (run_id));
diesel::joinable!(wakes -> issues (issue_id));
diesel::joinable!(wakes -> companies (company_id));
diesel::joinable!(issue_leases -> issues (issue_id));
diesel::joinable!(issue_leases -> heartbeat_runs (run_id));
diesel::joinable!(issue_comments -> issues (issue_id));
diesel::joinable!(project_goals -> projects (project_id));
diesel::joinable!(project_goals -> goals (goal_id));
diesel::joinable!(project_workspaces -> projects (project_id));
diesel::joinable!(cost_events -> projects (project_id));
diesel::joinable!(cost_events -> agents (agent_id));
diesel::joinable!(approval_issues -> approvals (approval_id));
diesel::joinable!(approval_issues -> issues (issue_id));
diesel::joinable!(run_processes -> heartbeat_runs (run_id));
diesel::joinable!(heartbeat_runs -> companies (company_id));
diesel::joinable!(issues -> companies (company_id));
diesel::joinable!(issue_attachments -> assets (asset_id));
diesel::joinable!(secret_versions -> secrets (secret_id));
diesel::joinable!(issue_labels -> labels (label_id));
diesel::joinable!(issue_labels -> issues (issue_id));
diesel::joinable!(issue_child_keys -> issues (issue_id));
diesel::joinable!(issue_texts -> issues (issue_id));
diesel::joinable!(stuck_issues -> issues (issue_id));
diesel::joinable!(issue_texts -> issue_comments (comment_id));
diesel::joinable!(agent_secrets -> agents (agent_id));
diesel::joinable!(agent_secrets -> secrets (secret_id));

diesel::allow_tables_to_appear_in_same_query!(
    companies,
    company_counters,
    agents,
    agent_keys,
    board_tokens,
    board_sessions,
    login_links,
    goals,
    projects,
    project_goals,
    project_workspaces,
    project_conventions,
    execution_workspaces,
    ticket_advances,
    pull_request_watches,
    issues,
    issue_leases,
    issue_comments,
    issue_child_keys,
    stuck_issues,
    issue_labels,
    issue_texts,
    labels,
    assets,
    issue_attachments,
    heartbeat_runs,
    run_processes,
    run_completions,
    agent_sessions,
    provider_gates,
    wakes,
    cost_events,
    spend_totals,
    run_spends,
    budget_alerts,
    approvals,
    approval_issues,
    approval_drafts,
    approval_events,
    approval_comments,
    approval_executions,
    approval_execution_steps,
    secrets,
    secret_versions,
    agent_secrets,
    run_secrets,
    vault_canary,
    installation,
    agent_config_revisions,
    instruction_bundles,
    instruction_versions,
    instruction_contents,
    activity,
    events,
    idempotency_keys,
    stream_tickets,
);
