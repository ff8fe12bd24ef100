//! What a row is, as SQL: the one place where words of the domain are written
//! into statements.
//!
//! They are written out rather than bound: a database uses a partial index only
//! for a condition that it knows before values are bound. Each function takes the
//! name that the statement gives to the row.

use core::marker::PhantomData;

use workforce_domain::agent::AgentState;
use workforce_domain::approval::{ApprovalStatus, ApprovalType, ExecutionState};
use workforce_domain::budget::{BudgetBasis, BudgetScope};
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::cost::{BillingType, CostSource};
use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::project::ProjectGovernance;
use workforce_domain::run::{RunErrorCode, RunKind, RunStatus, StartCondition, WakeStatus};
use workforce_domain::string_enum::StringEnum;

/// A column that holds words of one vocabulary.
pub(super) struct Words<W> {
    column: &'static str,
    vocabulary: PhantomData<W>,
}

pub(super) const AGENT_LIFECYCLE: Words<AgentState> = Words::of("lifecycle");
pub(super) const APPROVAL_STATUS: Words<ApprovalStatus> = Words::of("status");
pub(super) const BILLING_TYPE: Words<BillingType> = Words::of("billing_type");
pub(super) const COST_SOURCE: Words<CostSource> = Words::of("source");
pub(super) const ISSUE_STATUS: Words<IssueStatus> = Words::of("status");
const APPROVAL_TYPE: Words<ApprovalType> = Words::of("type");
pub(super) const BUDGET_SCOPE: Words<BudgetScope> = Words::of("scope_type");
const BUDGET_BASIS: Words<BudgetBasis> = Words::of("budget_basis");
const COMPANY_STATUS: Words<CompanyStatus> = Words::of("status");
const EXECUTION_STATE: Words<ExecutionState> = Words::of("state");
const PAUSE_REASON: Words<PauseReason> = Words::of("pause_reason");
const PROJECT_GOVERNANCE: Words<ProjectGovernance> = Words::of("governance");
const RUN_KIND: Words<RunKind> = Words::of("kind");
pub(super) const RUN_ERROR: Words<RunErrorCode> = Words::of("error_code");
pub(super) const RUN_STATUS: Words<RunStatus> = Words::of("status");
const WAKE_STATUS: Words<WakeStatus> = Words::of("status");
const WORKTREE_STATUS: Words<ExecutionWorkspaceStatus> = Words::of("status");

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

/// A word as SQL writes it.
pub(super) fn word<W: StringEnum>(word: W) -> String {
    quoted(word.as_str())
}

/// The name of a condition of a start after a blank, as a value.
pub(super) fn spaced(condition: StartCondition) -> String {
    quoted(&format!(" {condition}"))
}

/// A wake that waits for its run.
pub(super) fn pending_wake(wake: &str) -> String {
    WAKE_STATUS.is(wake, WakeStatus::Pending)
}

/// A pending wake that was to wait for a while when it came about.
pub(super) fn delayed_wake(wake: &str) -> String {
    let pending = pending_wake(wake);
    format!("{pending} AND {wake}.not_before > {wake}.created_at")
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

/// An issue that somebody is to work on, and that is neither parked nor hidden. Spelled as in its
/// partial index.
pub(super) fn issue_in_hand(issue: &str) -> String {
    let in_hand = ISSUE_STATUS.is_among(
        issue,
        &[
            IssueStatus::Todo,
            IssueStatus::InProgress,
            IssueStatus::InReview,
            IssueStatus::Blocked,
        ],
    );
    format!("{in_hand} AND {issue}.hidden_at IS NULL")
}

/// An issue whose work no agent is to review.
pub(super) fn awaits_review_of_board(issue: &str) -> String {
    let in_review = ISSUE_STATUS.is(issue, IssueStatus::InReview);
    format!(
        "({in_review} AND ({issue}.assignee_agent_id IS NULL \
            OR {issue}.implementer_agent_id IS NULL \
            OR {issue}.implementer_agent_id = {issue}.assignee_agent_id))"
    )
}

/// An execution of an approval in this state.
pub(super) fn execution_in(execution: &str, state: ExecutionState) -> String {
    EXECUTION_STATE.is(execution, state)
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

/// Runs that hold money of a spender. Every live run holds money of its company.
pub(super) fn holding(run: &str, company: &str, scope: BudgetScope, spender: &str) -> String {
    let own = match scope {
        BudgetScope::Company => String::new(),
        BudgetScope::Agent => format!(" AND {run}.agent_id = {spender}"),
        BudgetScope::Project => format!(" AND {run}.project_id = {spender}"),
    };
    format!("{run}.held_micros > 0 AND {run}.company_id = {company}{own}")
}

/// What of a total counts against the budgets of a company.
pub(super) fn counted_micros(company: &str, total: &str) -> String {
    let estimated = BUDGET_BASIS.is(company, BudgetBasis::Estimated);
    format!("CASE WHEN {estimated} THEN {total}.estimated_micros ELSE {total}.spent_micros END")
}

/// A limit, and what counts against it.
struct Limit<'a> {
    scope: BudgetScope,
    /// Whose limit it is.
    spender: &'a str,
    /// The column of the limit.
    column: &'a str,
    /// The company that says what counts.
    company: &'a str,
    /// The month; all of them when `None`.
    month: Option<&'a str>,
}

impl Limit<'_> {
    /// No limit is none; a limit is used up when all of it is spent, or held by live
    /// runs where `with_holds` says so.
    fn is_left(&self, with_holds: bool) -> String {
        let Self {
            scope,
            spender,
            column,
            company,
            month,
        } = self;
        let (limit, id) = (format!("{spender}.{column}"), format!("{spender}.id"));
        let company_id = format!("{company}.id");
        let total = BUDGET_SCOPE.is("t", *scope);
        let in_month = month.map_or_else(String::new, |month| format!(" AND t.month = {month}"));
        let counted = counted_micros(company, "t");
        let held = if with_holds {
            let holding = holding("h", &company_id, *scope, &id);
            format!(" + COALESCE((SELECT SUM(h.held_micros) FROM run_spends h WHERE {holding}), 0)")
        } else {
            String::new()
        };
        format!(
            "({limit} = 0 OR {limit} * 1000000 > \
                COALESCE((SELECT SUM({counted}) FROM spend_totals t \
                    WHERE t.company_id = {company_id} AND {total} \
                    AND t.scope_id = {id}{in_month}), 0){held})"
        )
    }
}

fn of_agent<'a>(agent: &'a str, company: &'a str, month: &'a str) -> Limit<'a> {
    Limit {
        scope: BudgetScope::Agent,
        spender: agent,
        column: "budget_monthly_cents",
        company,
        month: Some(month),
    }
}

fn of_company<'a>(company: &'a str, month: &'a str) -> Limit<'a> {
    Limit {
        scope: BudgetScope::Company,
        spender: company,
        column: "budget_monthly_cents",
        company,
        month: Some(month),
    }
}

/// An agent that has something left of its budget of `month`, beside what its live
/// runs hold.
pub(super) fn budget_left_to_agent(agent: &str, company: &str, month: &str) -> String {
    of_agent(agent, company, month).is_left(true)
}

/// An agent that has not spent its budget of `month`.
pub(super) fn budget_unspent_by_agent(agent: &str, company: &str, month: &str) -> String {
    of_agent(agent, company, month).is_left(false)
}

/// A company that has something left of its budget of `month`, beside what its live
/// runs hold.
pub(super) fn budget_left_to_company(company: &str, month: &str) -> String {
    of_company(company, month).is_left(true)
}

/// A company that has not spent its budget of `month`.
pub(super) fn budget_unspent_by_company(company: &str, month: &str) -> String {
    of_company(company, month).is_left(false)
}

/// A project, if it is one, that has something left of its budgets, beside what live
/// runs on its issues hold.
pub(super) fn budget_left_to_project(project: &str, company: &str, month: &str) -> String {
    budgets_of_project(project, company, month, true)
}

/// A project, if it is one, that has not spent its budgets.
pub(super) fn budget_unspent_on_project(project: &str, company: &str, month: &str) -> String {
    budgets_of_project(project, company, month, false)
}

fn budgets_of_project(project: &str, company: &str, month: &str, with_holds: bool) -> String {
    let limit = |column, month| Limit {
        scope: BudgetScope::Project,
        spender: project,
        column,
        company,
        month,
    };
    let in_month = limit("budget_monthly_cents", Some(month)).is_left(with_holds);
    let in_all = limit("budget_total_cents", None).is_left(with_holds);
    format!("({project}.id IS NULL OR ({in_month} AND {in_all}))")
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

/// A plan that the board approved.
pub(super) fn approved_plan(approval: &str) -> String {
    let plan = APPROVAL_TYPE.is(approval, ApprovalType::ApproveIssuePlan);
    let approved = APPROVAL_STATUS.is(approval, ApprovalStatus::Approved);
    format!("{plan} AND {approved}")
}

/// A worktree that is there.
pub(super) fn ready_worktree(worktree: &str) -> String {
    WORKTREE_STATUS.is(worktree, ExecutionWorkspaceStatus::Ready)
}

/// A project that demands an approved plan.
pub(super) fn governed_project(project: &str) -> String {
    PROJECT_GOVERNANCE.is(project, ProjectGovernance::Required)
}
