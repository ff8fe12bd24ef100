//! Checking out: the one way an agent begins to work on an issue
//! (docs/issues.md#checkout).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{AgentCredential, CompanyOwned};
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{
    Assignment, CheckoutConflict, CheckoutDecision, CheckoutFacts, CheckoutRequest,
    DEFAULT_EXPECTED, Holder, Issue, IssueRef, IssueStatus, Progress,
};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{
    EmployedAgent, Failure, Locked, LockedLiveRun, NewLease, StoreError, Tx,
};
use workforce_domain::time::Month;
use workforce_domain::wake::WakeReason;

use super::{IssueError, IssueView, assignment, lock, read, require_enabled, seen, working_run};
use crate::access::{Denied, FieldFault};
use crate::activity_log::log_change;
use crate::budgets;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Checks an issue out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOut {
    /// The agent that is to own it; the caller itself when unsaid.
    pub agent: Option<AgentId>,
    /// The statuses to check out from; todo, backlog and blocked when unsaid.
    pub expected: Option<Vec<IssueStatus>>,
}

/// What [`check_out`] refuses with.
pub const CHECK_OUT: Codes = Codes::with(
    &[
        Code::ConsultRun,
        Code::InvalidField,
        Code::ReferenceNotFound,
    ],
    &[TAKE],
);

/// Atomically assigns an issue to an agent and moves it to in_progress. For
/// the agent that owns it already this succeeds and changes nothing. The board
/// may check out for an agent, which is woken then.
///
/// # Errors
/// [`IssueError`]; a conflict names holder and reason.
pub fn check_out(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: CheckOut,
) -> Result<IssueView, Failure<IssueError>> {
    // Locks go in one order: an agent before its issues.
    let seen = seen(tx.reads(), ctx, issue)?;
    let agent = worker(tx, ctx, &seen, command.agent)?;
    let mut issue = lock(tx, ctx, &seen.id.into())?;
    let taken = take(tx, ctx, &mut issue, &agent, command.expected)?;
    if taken && ctx.agent().is_none() {
        let reason = WakeReason::IssueCheckedOut;
        assignment::wake_assignee(tx, ctx, &issue, &agent, reason)?;
    }
    Ok(read::view(tx.reads(), ctx, issue.into_inner())?)
}

/// The agent that is to own the issue: an agent checks out as itself only.
fn worker(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    named: Option<AgentId>,
) -> Result<EmployedAgent, Failure<IssueError>> {
    let id = match (ctx.agent(), named) {
        (Some(caller), Some(named)) if caller.agent != named => {
            return Err(Denied::Forbidden("an agent checks out as itself only").into());
        }
        (Some(caller), _) => caller.agent,
        (None, Some(named)) => named,
        (None, None) => {
            let fault = FieldFault::invalid("/agentId", "name the agent to check out for");
            return Err(fault.into());
        }
    };
    if let Some(AgentCredential::Run { consult: true, .. }) = ctx.agent().map(|c| c.credential) {
        return Err(Failure::Refused(IssueError::ConsultRun));
    }
    ctx.require_working_company()?;
    let missing = || FieldFault::missing("/agentId", "agent");
    let agent = tx.agents_mut().share(issue.scope(), id)?;
    agent.ok_or_else(missing)?.employed().ok_or_else(|| {
        let fault = FieldFault::invalid("/agentId", "the agent is a draft or terminated");
        Failure::Refused(fault.into())
    })
}

/// Agents begin no work where a budget of the company or of the issue's project is used up.
fn require_money(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    let scope = issue.scope();
    let Some(company) = tx.companies().find(scope.into(), issue.company)? else {
        return Ok(());
    };
    let project = match issue.project {
        Some(project) => tx.projects().find(scope.into(), project)?,
        None => None,
    };
    let is_used_up = match project {
        Some(project) => {
            let month = Month::of(ctx.now);
            budgets::project_usage(tx.reads(), &company, &project, month)?.exhausted()
        }
        None => false,
    };
    if is_used_up || company.lifecycle.pause_reason().is_some() {
        return Err(Failure::Refused(IssueError::BudgetExhausted));
    }
    Ok(())
}

/// What taking an issue is refused with, however it is asked for.
pub(super) const TAKE: Codes = Codes::of(&[
    Code::AgentPaused,
    Code::BudgetExhausted,
    Code::CheckoutConflict,
]);

/// Decides the checkout and carries it out; false when the agent had the issue
/// already.
pub(super) fn take(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    agent: &EmployedAgent,
    expected: Option<Vec<IssueStatus>>,
) -> Result<bool, Failure<IssueError>> {
    require_enabled(agent).map_err(Failure::Refused)?;
    if ctx.agent().is_some() {
        require_money(tx, ctx, issue)?;
    }
    let scope = issue.scope();
    let expected = expected.unwrap_or_else(|| DEFAULT_EXPECTED.to_vec());
    // The agent's own lease is never in its way. Outside of any run the agent
    // acts for the run that holds the issue, and a run takes over from a key.
    let lease = tx.issues().lease(scope, issue.id)?;
    let own = lease
        .as_ref()
        .map(|lease| lease.holder)
        .filter(|h| h.agent() == agent.id);
    let run = match working_run::working_run(tx, ctx, scope)? {
        Some(run) => Some(run),
        None => match own.and_then(Holder::run) {
            Some(run) => Some(working_run::holding_run(tx, scope, run)?),
            None => None,
        },
    };
    let lease = lease.filter(|lease| lease.holder != Holder::Agent(agent.id));
    let rework = for_rework(ctx, issue, agent, &expected);
    let (progress, expected) = match rework {
        Some(reopened) => (reopened, vec![IssueStatus::Todo]),
        None => (
            issue.progress.clone(),
            for_caller(ctx, issue, agent, expected),
        ),
    };
    let facts = CheckoutFacts {
        progress: &progress,
        assignee_agent: issue.assignee.agent(),
        assignee_is_board: issue.assignee.board().is_some(),
        lease: lease.as_ref(),
        approval_pending: tx.approvals().undecided_blocking(scope, issue.id)?,
    };
    let request = CheckoutRequest {
        agent: agent.id,
        run: run.map(LockedLiveRun::id),
        expected: &expected,
        now: ctx.now,
    };
    match facts.decide(request) {
        CheckoutDecision::Conflict(conflict) => Err(Failure::Refused(IssueError::Conflict {
            issue: issue.id,
            // The decision may be about the work as if reopened; the issue
            // itself still has its terminal status.
            conflict: CheckoutConflict {
                status: issue.status(),
                ..conflict
            },
        })),
        CheckoutDecision::AlreadyOwned => {
            put_lease(tx, ctx, issue, agent, run)?;
            Ok(false)
        }
        CheckoutDecision::Take { progress } => {
            let from = issue.status();
            issue.progress = progress;
            issue.assignee = Assignment::to_agent(agent);
            issue.settle_review();
            issue.updated_at = ctx.now;
            tx.issues_mut().save(issue)?;
            put_lease(tx, ctx, issue, agent, run)?;
            let details = json!({ "from": from, "agentId": agent.id });
            log_change(tx, ctx, Action::IssueCheckedOut, issue, details);
            Ok(true)
        }
    }
}

/// A checkout reopens a terminal issue only for its assignee or the board, and
/// only when the caller expects that status.
fn for_rework(
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &Agent,
    expected: &[IssueStatus],
) -> Option<Progress> {
    let entitled = ctx.agent().is_none() || issue.assignee.agent() == Some(agent.id);
    if !entitled || !issue.status().is_terminal() || !expected.contains(&issue.status()) {
        return None;
    }
    issue
        .progress
        .reopen(IssueStatus::Todo, ctx.now)
        .ok()
        .map(|moved| moved.progress)
}

/// Only the assignee and the board check out an issue from review. For others
/// `in_review` does not count as expected.
fn for_caller(
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &Agent,
    mut expected: Vec<IssueStatus>,
) -> Vec<IssueStatus> {
    if ctx.agent().is_some() && issue.assignee.agent() != Some(agent.id) {
        expected.retain(|status| *status != IssueStatus::InReview);
    }
    expected
}

/// Puts or renews the caller's lease. The board works on nothing itself and
/// holds none: ownership is the assignment.
fn put_lease(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    agent: &EmployedAgent,
    run: Option<LockedLiveRun>,
) -> Result<(), StoreError> {
    if ctx.agent().is_some() {
        let lease = NewLease::of(issue, agent, run, ctx.now);
        tx.issues_mut().take_lease(issue, lease)?;
    }
    Ok(())
}
