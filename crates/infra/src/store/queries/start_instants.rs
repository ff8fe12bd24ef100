//! When the conditions of a start come to hold by themselves, as SQL.

use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;

use super::predicates::delayed_wake;

/// The first instant after `$1` at which a condition may come to hold although nobody does
/// anything. It may be that of a wake that waits for something else too: then the look is for
/// nothing. `None` of what only comes to hold by what somebody does, or with another month.
fn next(condition: StartCondition) -> Option<String> {
    let first = |column: &str, rows: &str| {
        Some(format!(
            "SELECT MIN({column}) AS at FROM {rows} AND {column} > $1"
        ))
    };
    match condition {
        StartCondition::NotBefore => {
            let delayed = delayed_wake("w");
            first("w.not_before", &format!("wakes w WHERE {delayed}"))
        }
        StartCondition::AgentBackoff => first(
            "a.backoff_until",
            "agents a WHERE a.backoff_until IS NOT NULL",
        ),
        StartCondition::ProviderGate => first(
            "g.blocked_until",
            "provider_gates g WHERE g.blocked_until IS NOT NULL",
        ),
        StartCondition::WorkspaceBusy => first(
            "e.held_until",
            "execution_workspaces e WHERE e.held_until IS NOT NULL",
        ),
        StartCondition::LeaseHeld => first(
            "l.expires_at",
            "issue_leases l WHERE l.expires_at IS NOT NULL",
        ),
        StartCondition::AgentNotEmployed
        | StartCondition::AgentPaused
        | StartCondition::CompanyNotActive
        | StartCondition::BudgetAgent
        | StartCondition::BudgetCompany
        | StartCondition::BudgetProject
        | StartCondition::CapInstance
        | StartCondition::CapCompany
        | StartCondition::CapAgent
        | StartCondition::IssueEnded
        | StartCondition::IssueHasLiveRun
        | StartCondition::ApprovalPending => None,
    }
}

/// The first instant after `$1` at which any of them may.
pub(super) fn next_start() -> String {
    let all = StartCondition::ALL.iter().copied().filter_map(next);
    let all = all.collect::<Vec<_>>().join(" UNION ALL ");
    format!("SELECT MIN(turn.at) FROM ({all}) turn")
}
