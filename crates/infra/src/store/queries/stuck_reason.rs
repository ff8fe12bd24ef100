//! Why nothing moves an open issue by itself (docs/issues.md#stuck-issues).

use std::sync::LazyLock;

use workforce_domain::approval::ExecutionState;
use workforce_domain::issue::{IssueStatus, StuckReason};
use workforce_domain::run::{RunErrorCode, RunStatus};

use super::predicates::{
    ISSUE_STATUS, RUN_ERROR, RUN_STATUS, active_company, awaits_review_of_board,
    budget_unspent_on_project, employed_agent, execution_in, issue_in_hand, pending_wake,
    running_run, stopped_by_budget, unpaused_agent, waiting_approval, word,
};

/// What an issue `i`, its assignee `a`, its project `p` and its company `firm` are joined from.
pub(super) const CONCERNED: &str = "issues i \
    CROSS JOIN companies firm \
    LEFT JOIN agents a ON a.company_id = i.company_id AND a.id = i.assignee_agent_id \
    LEFT JOIN projects p ON p.company_id = i.company_id AND p.id = i.project_id \
    WHERE firm.id = i.company_id";

/// Why an issue is stuck, or null. `$1` is the present and `$2` the month; SQLite numbers values
/// in the order in which they first come.
pub(super) static REASON: LazyLock<String> = LazyLock::new(|| {
    let running = running_run("r");
    let live = format!(
        "EXISTS (SELECT 1 FROM heartbeat_runs r \
            WHERE r.company_id = i.company_id AND r.issue_id = i.id AND {running})"
    );
    let leased = "EXISTS (SELECT 1 FROM issue_leases l \
        WHERE l.issue_id = i.id AND l.run_id IS NULL AND l.expires_at > $1)";
    let unspent = budget_unspent_on_project("p", "firm", "$2");
    let may_run = |agent: &str| {
        let (employed, unpaused) = (employed_agent(agent), unpaused_agent(agent));
        let active = active_company("firm");
        format!("{employed} AND {unpaused} AND {active} AND {unspent}")
    };
    let (pending, able) = (pending_wake("w"), may_run("wa"));
    let woken = format!(
        "EXISTS (SELECT 1 FROM wakes w CROSS JOIN agents wa \
            WHERE w.company_id = i.company_id AND w.issue_id = i.id AND {pending} \
            AND wa.company_id = w.company_id AND wa.id = w.agent_id AND {able})"
    );
    let worked_on = ISSUE_STATUS.is_among("i", &[IssueStatus::Todo, IssueStatus::InProgress]);
    let in_review = ISSUE_STATUS.is("i", IssueStatus::InReview);
    let beats = format!(
        "(a.next_heartbeat_at IS NOT NULL \
            AND ({worked_on} OR ({in_review} AND i.implementer_agent_id IS NOT NULL)) AND {})",
        may_run("a")
    );
    let child_in_hand = issue_in_hand("c");
    let children = format!(
        "EXISTS (SELECT 1 FROM issues c \
            WHERE c.company_id = i.company_id AND c.parent_id = i.id AND {child_in_hand})"
    );
    let waiting = waiting_approval("v");
    let executing = execution_in("x", ExecutionState::Executing);
    let linked = "SELECT 1 FROM approval_issues k CROSS JOIN approvals v \
        LEFT JOIN approval_executions x \
            ON x.company_id = v.company_id AND x.approval_id = v.id \
        WHERE k.company_id = i.company_id AND k.issue_id = i.id \
        AND v.company_id = k.company_id AND v.id = k.approval_id";
    let decided = format!("EXISTS ({linked} AND (({waiting}) OR {executing}))");
    let of_ticket = "EXISTS (SELECT 1 FROM ticket_advances t WHERE t.issue_id = i.id) \
        OR EXISTS (SELECT 1 FROM pull_request_watches q \
            WHERE q.company_id = i.company_id AND q.workspace_id = i.execution_workspace_id)";
    let of_board = awaits_review_of_board("i");
    let last = |column: &str| {
        format!(
            "(SELECT {column} FROM heartbeat_runs r \
                WHERE r.company_id = i.company_id AND r.issue_id = i.id \
                AND r.agent_id = i.assignee_agent_id AND r.finished_at IS NOT NULL \
                ORDER BY r.created_at DESC, r.id DESC LIMIT 1)"
        )
    };
    let [succeeded, signed_out] = [
        RUN_STATUS.is("r", RunStatus::Succeeded),
        RUN_ERROR.is("r", RunErrorCode::AuthRequired),
    ]
    .map(|is| last(&format!("CASE WHEN {is} THEN 1 ELSE 0 END")));
    let (of_company, of_agent) = (stopped_by_budget("firm"), stopped_by_budget("a"));
    let (active, unpaused) = (active_company("firm"), unpaused_agent("a"));
    let blocked = ISSUE_STATUS.is("i", IssueStatus::Blocked);
    let [
        unassigned,
        not_active,
        paused,
        budget,
        sign_in,
        is_blocked,
        run_failed,
        left_undone,
        not_woken,
    ] = [
        StuckReason::Unassigned,
        StuckReason::CompanyNotActive,
        StuckReason::AgentPaused,
        StuckReason::BudgetExhausted,
        StuckReason::SignInRequired,
        StuckReason::Blocked,
        StuckReason::RunFailed,
        StuckReason::LeftUndone,
        StuckReason::NotWoken,
    ]
    .map(word);
    format!(
        "CASE \
        WHEN {live} OR {leased} THEN NULL \
        WHEN a.consecutive_failures > 0 AND {signed_out} = 1 THEN {sign_in} \
        WHEN i.assignee_user_id IS NOT NULL OR {of_board} OR {woken} OR {beats} OR {children} \
            OR {decided} OR {of_ticket} THEN NULL \
        WHEN i.assignee_agent_id IS NULL THEN {unassigned} \
        WHEN {of_company} OR {of_agent} OR NOT {unspent} THEN {budget} \
        WHEN NOT ({active}) THEN {not_active} \
        WHEN NOT ({unpaused}) THEN {paused} \
        WHEN {blocked} THEN {is_blocked} \
        WHEN {succeeded} = 1 THEN {left_undone} \
        WHEN {succeeded} IS NOT NULL THEN {run_failed} \
        ELSE {not_woken} END"
    )
});
