//! What a row is, as SQL: the one place where words of the domain are written
//! into statements.
//!
//! They are written out rather than bound: a database uses a partial index only
//! for a condition that it knows before values are bound. Each function takes the
//! name that the statement gives to the row.

use core::marker::PhantomData;

use workforce_domain::agent::AgentState;
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::budget::BudgetScope;
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::cost::BillingType;
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::{RunKind, RunStatus, StartCondition, WakeStatus};
use workforce_domain::string_enum::StringEnum;

/// A column that holds words of one vocabulary.
pub(super) struct Words<W> {
    column: &'static str,
    vocabulary: PhantomData<W>,
}

pub(super) const AGENT_LIFECYCLE: Words<AgentState> = Words::of("lifecycle");
pub(super) const APPROVAL_STATUS: Words<ApprovalStatus> = Words::of("status");
pub(super) const BILLING_TYPE: Words<BillingType> = Words::of("billing_type");
pub(super) const ISSUE_STATUS: Words<IssueStatus> = Words::of("status");
const APPROVAL_TYPE: Words<ApprovalType> = Words::of("type");
const BUDGET_SCOPE: Words<BudgetScope> = Words::of("scope_type");
const COMPANY_STATUS: Words<CompanyStatus> = Words::of("status");
const PAUSE_REASON: Words<PauseReason> = Words::of("pause_reason");
const RUN_KIND: Words<RunKind> = Words::of("kind");
const RUN_STATUS: Words<RunStatus> = Words::of("status");
const WAKE_STATUS: Words<WakeStatus> = Words::of("status");

impl<W: StringEnum> Words<W> {
    const fn of(column: &'static str) -> Self {
        Self {
            column,
            vocabulary: PhantomData,
        }
    }

    /// The column has this word.
    pub(super) fn is(&self, row: &str, word: W) -> String {
        format!("{row}.{} = {}", self.column, quoted(word.as_str()))
    }

    /// The column has another word.
    pub(super) fn is_not(&self, row: &str, word: W) -> String {
        format!("{row}.{} <> {}", self.column, quoted(word.as_str()))
    }

    /// The column has one of these words.
    pub(super) fn is_among(&self, row: &str, words: &[W]) -> String {
        format!("{row}.{} IN ({})", self.column, list(words))
    }

    /// The column has none of these words.
    pub(super) fn is_none_of(&self, row: &str, words: &[W]) -> String {
        format!("{row}.{} NOT IN ({})", self.column, list(words))
    }
}

/// A text as SQL writes it. Words have no quotes in them.
fn quoted(text: &str) -> String {
    format!("'{text}'")
}

/// Words as SQL lists them.
fn list<W: StringEnum>(words: &[W]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_str())).collect();
    words.join(", ")
}

/// The name of a condition of a start after a blank, as a value.
pub(super) fn spaced(condition: StartCondition) -> String {
    quoted(&format!(" {condition}"))
}

/// A wake that waits for its run.
pub(super) fn pending_wake(wake: &str) -> String {
    WAKE_STATUS.is(wake, WakeStatus::Pending)
}

/// A wake that asks for nothing any more.
pub(super) fn ended_wake(wake: &str) -> String {
    WAKE_STATUS.is_not(wake, WakeStatus::Pending)
}

/// A wake whose run would work on an issue.
pub(super) fn execution_wake(wake: &str) -> String {
    RUN_KIND.is(wake, RunKind::Execution)
}

/// A run that waits to be started.
pub(super) fn queued_run(run: &str) -> String {
    RUN_STATUS.is(run, RunStatus::Queued)
}

/// A run whose program runs.
pub(super) fn running_run(run: &str) -> String {
    RUN_STATUS.is(run, RunStatus::Running)
}

/// A run whose program works on an issue.
pub(super) fn working_run(run: &str) -> String {
    let running = running_run(run);
    let execution = RUN_KIND.is(run, RunKind::Execution);
    format!("{running} AND {execution}")
}

fn ended() -> Vec<IssueStatus> {
    let all = IssueStatus::ALL.iter().copied();
    all.filter(|status| status.is_terminal()).collect()
}

/// An issue that nothing is to be done for any more.
pub(super) fn ended_issue(issue: &str) -> String {
    ISSUE_STATUS.is_among(issue, &ended())
}

/// An issue that something is to be done for.
pub(super) fn open_issue(issue: &str) -> String {
    ISSUE_STATUS.is_none_of(issue, &ended())
}

/// An agent that is neither a draft nor gone.
pub(super) fn employed_agent(agent: &str) -> String {
    AGENT_LIFECYCLE.is_among(agent, &[AgentState::Enabled, AgentState::Paused])
}

/// An agent that nobody paused.
pub(super) fn unpaused_agent(agent: &str) -> String {
    AGENT_LIFECYCLE.is_not(agent, AgentState::Paused)
}

/// An agent that is gone for good.
pub(super) fn terminated_agent(agent: &str) -> String {
    AGENT_LIFECYCLE.is(agent, AgentState::Terminated)
}

/// An agent that is not gone; it may be a draft.
pub(super) fn remaining_agent(agent: &str) -> String {
    AGENT_LIFECYCLE.is_not(agent, AgentState::Terminated)
}

/// A company in which work may start.
pub(super) fn active_company(company: &str) -> String {
    let active = COMPANY_STATUS.is(company, CompanyStatus::Active);
    format!("{active} AND {company}.pause_reason IS NULL")
}

/// An agent or a company that its budget stopped.
pub(super) fn stopped_by_budget(spender: &str) -> String {
    PAUSE_REASON.is(spender, PauseReason::Budget)
}

/// An agent that has not used up its budget of `month`.
pub(super) fn budget_left_to_agent(agent: &str, month: &str) -> String {
    let company = format!("{agent}.company_id");
    budget_left(agent, &company, BudgetScope::Agent, month)
}

/// A company that has not used up its budget of `month`.
pub(super) fn budget_left_to_company(company: &str, month: &str) -> String {
    let id = format!("{company}.id");
    budget_left(company, &id, BudgetScope::Company, month)
}

/// No limit is none; a limit is used up when all of it is spent.
fn budget_left(spender: &str, company: &str, scope: BudgetScope, month: &str) -> String {
    let total = BUDGET_SCOPE.is("t", scope);
    format!(
        "({spender}.budget_monthly_cents = 0 \
            OR {spender}.budget_monthly_cents * 1000000 > COALESCE(( \
                SELECT t.spent_micros FROM spend_totals t \
                WHERE t.company_id = {company} AND {total} \
                AND t.scope_id = {spender}.id AND t.month = {month}), 0))"
    )
}

/// An approval that may still be decided.
pub(super) fn undecided_approval(approval: &str) -> String {
    APPROVAL_STATUS.is_among(approval, ApprovalStatus::ACTIONABLE)
}

/// An approval that waits for the board. The condition also says undecided, which
/// the partial index asks for.
pub(super) fn waiting_approval(approval: &str) -> String {
    let undecided = undecided_approval(approval);
    let pending = APPROVAL_STATUS.is(approval, ApprovalStatus::Pending);
    format!("{undecided} AND {pending}")
}

/// A plan that may still be decided.
pub(super) fn undecided_plan(approval: &str) -> String {
    let plan = APPROVAL_TYPE.is(approval, ApprovalType::ApproveIssuePlan);
    let undecided = undecided_approval(approval);
    format!("{plan} AND {undecided}")
}
