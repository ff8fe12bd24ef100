//! Which column holds the words of which enum of the domain.

use workforce_domain::actor::ActorKind;
use workforce_domain::agent::AgentState;
use workforce_domain::approval::{
    ApprovalHistoryKind, ApprovalStatus, ApprovalType, ExecutionState, ExecutionStep,
};
use workforce_domain::attachment::Provider;
use workforce_domain::budget::{BudgetBasis, BudgetScope, Threshold};
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::conventions::CompactSource;
use workforce_domain::cost::{BillingType, CostSource};
use workforce_domain::execution_workspace::{
    ChecksState, ExecutionWorkspaceStatus, PullRequestState,
};
use workforce_domain::goal::{GoalLevel, GoalStatus};
use workforce_domain::instructions::BundleMode;
use workforce_domain::issue::IssueStatus;
use workforce_domain::project::{ProjectGovernance, ProjectStatus};
use workforce_domain::run::{RunKind, RunStatus, WakeStatus};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::wake::WakeReason;

/// A column and its words.
pub(super) struct Vocabulary {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    /// True of its words.
    pub(super) knows: fn(&str) -> bool,
}

const fn of<W: StringEnum>(table: &'static str, column: &'static str) -> Vocabulary {
    Vocabulary {
        table,
        column,
        knows: |word| W::parse(word).is_some(),
    }
}

/// Every column of which a migration or an invariant names a word.
pub(super) const VOCABULARIES: &[Vocabulary] = &[
    of::<ActorKind>("activity", "actor_type"),
    of::<AgentState>("agents", "lifecycle"),
    of::<PauseReason>("agents", "pause_reason"),
    of::<ActorKind>("approval_events", "actor_type"),
    of::<ApprovalHistoryKind>("approval_events", "kind"),
    of::<ExecutionStep>("approval_execution_steps", "step"),
    of::<ExecutionState>("approval_executions", "state"),
    of::<ExecutionStep>("approval_executions", "step"),
    of::<ApprovalStatus>("approvals", "status"),
    of::<ApprovalType>("approvals", "type"),
    of::<Provider>("assets", "provider"),
    of::<BudgetScope>("budget_alerts", "scope_type"),
    of::<Threshold>("budget_alerts", "threshold"),
    of::<BudgetBasis>("companies", "budget_basis"),
    of::<PauseReason>("companies", "pause_reason"),
    of::<CompanyStatus>("companies", "status"),
    of::<BillingType>("cost_events", "billing_type"),
    of::<CostSource>("cost_events", "source"),
    of::<PullRequestState>("execution_workspaces", "pull_request_state"),
    of::<ExecutionWorkspaceStatus>("execution_workspaces", "status"),
    of::<GoalLevel>("goals", "level"),
    of::<GoalStatus>("goals", "status"),
    of::<RunKind>("heartbeat_runs", "kind"),
    of::<RunStatus>("heartbeat_runs", "status"),
    of::<BundleMode>("instruction_bundles", "mode"),
    of::<IssueStatus>("issues", "status"),
    of::<CompactSource>("project_conventions", "compact_source"),
    of::<ProjectGovernance>("projects", "governance"),
    of::<ProjectStatus>("projects", "status"),
    of::<ChecksState>("pull_request_watches", "checks"),
    of::<BudgetScope>("spend_totals", "scope_type"),
    of::<RunKind>("wakes", "kind"),
    of::<WakeStatus>("wakes", "status"),
    of::<WakeReason>("wakes", "work_reason"),
];
