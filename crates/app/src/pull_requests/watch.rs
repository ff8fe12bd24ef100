//! What the forge tells of an open pull request.

use std::time::Duration;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::execution_workspace::{
    ChecksState, ExecutionWorkspace, PullRequest, PullRequestState, PullRequestWatch,
};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{EmployedAgent, Locked, StoreError, Tx};
use workforce_domain::wake::WakeReason;

use crate::activity_log::log_activity;
use crate::approvals::advance::lock_assigned;
use crate::context::Context;
use crate::tickets;

/// An answer comes within this time, or another server asks.
const ANSWER_WITHIN: Duration = Duration::from_secs(3 * 60);
/// How often the forge is asked while checks have not ended, and the shortest pause
/// after a failure.
const SOON: Duration = Duration::from_secs(60);
/// And otherwise.
const USUALLY: Duration = Duration::from_secs(5 * 60);
/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);
/// A forge does not make anybody wait longer.
const LONGEST_WISH: Duration = Duration::from_secs(24 * 60 * 60);

/// What a forge is to be asked about.
#[derive(Clone, Debug)]
pub struct Question {
    /// The worktree, with its pull request.
    pub worktree: ExecutionWorkspace,
    /// Its watch: what is known.
    pub watch: PullRequestWatch,
}

/// A check that failed, as its forge tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its name.
    pub name: String,
    /// A web page about it.
    pub url: Option<String>,
}

/// What a forge told of a pull request.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What became of it.
    pub state: PullRequestState,
    /// Its newest commit; empty if the forge has not looked at it.
    pub head_commit: String,
    /// What its checks say together.
    pub checks: ChecksState,
    /// Those that failed.
    pub failed: Vec<FailedCheck>,
    /// What spares the forge to tell all that again.
    pub validators: Document,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum LookOutcome {
    /// Everything is as it was.
    Same,
    /// Something may be different.
    Told(Box<Look>),
    /// The forge gave no answer.
    Failed {
        /// How long it does not want to be asked, if it says so.
        pause: Option<Duration>,
    },
}

/// Takes a question that is due, so that no other server asks it; `None` when it is
/// not due any more.
pub fn claim_question(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
) -> Result<Option<Question>, StoreError> {
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(worktree) = locked else {
        return Ok(None);
    };
    let watch = tx.pull_request_watches().find(company, id)?;
    let Some(mut watch) = watch.filter(|watch| watch.due_at <= ctx.now) else {
        return Ok(None);
    };
    if !is_open(&worktree) {
        tx.pull_request_watches_mut().end(&worktree)?;
        return Ok(None);
    }
    watch.fence = watch.fence.saturating_add(1);
    watch.due_at = ctx.now.plus(ANSWER_WITHIN);
    tx.pull_request_watches_mut().save(&worktree, &watch)?;
    let worktree = (*worktree).clone();
    Ok(Some(Question { worktree, watch }))
}

fn is_open(worktree: &ExecutionWorkspace) -> bool {
    let pull_request = worktree.pull_request.as_ref();
    pull_request.is_some_and(|it| it.state == PullRequestState::Open)
}

/// Writes down what came of a question, once: who asked meanwhile knows better.
pub fn finish_question(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    question: &Question,
    outcome: &LookOutcome,
) -> Result<(), StoreError> {
    let company = question.watch.scope();
    let id = question.worktree.id;
    // What is not told of an issue needs none.
    let mut owner = None;
    if let (LookOutcome::Told(_), Some(issue)) = (outcome, question.worktree.owner) {
        owner = lock_assigned(tx, company, issue)?;
    }
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(mut worktree) = locked else {
        return Ok(());
    };
    let watch = tx.pull_request_watches().find(company, id)?;
    let same = watch.filter(|watch| watch.fence == question.watch.fence);
    let (Some(mut watch), Some(pull_request)) = (same, worktree.pull_request.clone()) else {
        return Ok(());
    };
    let (pause, is_hurried) = (
        pause_after(&watch, outcome),
        watch.due_at < question.watch.due_at,
    );
    match outcome {
        LookOutcome::Same => watch.attempts = 0,
        LookOutcome::Failed { .. } => watch.attempts = watch.attempts.saturating_add(1),
        LookOutcome::Told(look) => {
            let owner = owner.filter(|(issue, _)| worktree.owner == Some(issue.id));
            if let Some(change) = Change::of(&watch, look) {
                tell(
                    tx,
                    ctx,
                    &worktree,
                    &pull_request,
                    owner.as_ref(),
                    change,
                    look,
                )?;
            }
            if look.state != pull_request.state {
                worktree.pull_request = Some(PullRequest {
                    state: look.state,
                    ..pull_request
                });
                worktree.updated_at = ctx.now;
                tx.execution_workspaces_mut().save(&worktree)?;
            }
            if look.state != PullRequestState::Open {
                return tx.pull_request_watches_mut().end(&worktree);
            }
            watch.attempts = 0;
            watch.validators = look.validators.clone();
            watch.checks = look.checks;
            watch.head_commit = Some(look.head_commit.clone());
        }
    }
    // Somebody knows of news that came after the question.
    watch.due_at = match is_hurried {
        true => ctx.now,
        false => ctx.now.plus(pause),
    };
    tx.pull_request_watches_mut().save(&worktree, &watch)
}

/// How long the forge is not asked again.
fn pause_after(watch: &PullRequestWatch, outcome: &LookOutcome) -> Duration {
    let checks = match outcome {
        LookOutcome::Failed { pause } => {
            let doublings = u32::try_from(watch.attempts).unwrap_or_default().min(10);
            let own = SOON.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
            let wished = pause.unwrap_or_default().min(LONGEST_WISH);
            return own.max(wished);
        }
        LookOutcome::Same => watch.checks,
        LookOutcome::Told(look) => look.checks,
    };
    match checks {
        ChecksState::Pending => SOON,
        _ => USUALLY,
    }
}

/// What is told of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Merged,
    Closed,
    ChecksFailed,
    ChecksPassed,
}

impl Change {
    /// What is new. Checks of another commit are others.
    fn of(known: &PullRequestWatch, look: &Look) -> Option<Self> {
        let is_same_commit = known.head_commit.as_deref() == Some(&*look.head_commit);
        match look.state {
            PullRequestState::Merged => return Some(Self::Merged),
            PullRequestState::Closed => return Some(Self::Closed),
            PullRequestState::Open if is_same_commit && known.checks == look.checks => {
                return None;
            }
            PullRequestState::Open => {}
        }
        match look.checks {
            ChecksState::Failed => Some(Self::ChecksFailed),
            ChecksState::Passed => Some(Self::ChecksPassed),
            ChecksState::None | ChecksState::Pending | ChecksState::Unknown => None,
        }
    }

    const fn action(self) -> Action {
        match self {
            Self::Merged => Action::PullRequestMerged,
            Self::Closed => Action::PullRequestClosed,
            Self::ChecksFailed => Action::PullRequestChecksFailed,
            Self::ChecksPassed => Action::PullRequestChecksPassed,
        }
    }

    /// Why somebody is woken; nobody is for what asks for nothing.
    const fn reason(self) -> Option<WakeReason> {
        match self {
            Self::Merged => Some(WakeReason::PullRequestMerged),
            Self::Closed => Some(WakeReason::PullRequestClosed),
            Self::ChecksFailed => Some(WakeReason::PullRequestChecksFailed),
            Self::ChecksPassed => None,
        }
    }
}

fn tell(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    worktree: &ExecutionWorkspace,
    pull_request: &PullRequest,
    owner: Option<&(Locked<Issue>, Option<EmployedAgent>)>,
    change: Change,
    look: &Look,
) -> Result<(), StoreError> {
    let Some((issue, agent)) = owner else {
        return Ok(());
    };
    let mut details = json!({
        "url": pull_request.url,
        "number": pull_request.number,
        "branch": worktree.branch,
        "baseBranch": worktree.base_branch,
        "commit": look.head_commit,
        "executionWorkspaceId": worktree.id,
    });
    if change == Change::ChecksFailed {
        let failed = look.failed.iter();
        let failed = failed.map(|check| json!({ "name": check.name, "url": check.url }));
        details["failedChecks"] = Value::Array(failed.collect());
    }
    log_activity(tx, ctx, change.action(), &**issue, details.clone());
    let (Some(reason), Some(agent)) = (change.reason(), agent) else {
        return Ok(());
    };
    tickets::wake_agent(tx, ctx, issue, agent, reason, details)
}

/// Makes a question due at once: somebody says that there is news.
pub fn hurry(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
) -> Result<(), StoreError> {
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(worktree) = locked else {
        return Ok(());
    };
    let watch = tx.pull_request_watches().find(company, id)?;
    if let Some(mut watch) = watch.filter(|watch| watch.due_at > ctx.now) {
        watch.due_at = ctx.now;
        tx.pull_request_watches_mut().save(&worktree, &watch)?;
    }
    Ok(())
}
