//! Tickets whose work has come to its end are committed and brought up to their base
//! branch, and then the board is asked (docs/tickets.md#when-the-work-is-done).

use std::sync::Arc;

use serde_json::{Value, json};
use workforce_app::approvals::advance::{self, Advance, WorkState};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{Approval, ApprovalStatus, ApprovalType, ExecutionStep};
use workforce_domain::execution_workspace::{ExecutionWorkspace, TicketAdvance};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{CarryOutError, Reads, StepFailure, StepFault, StoreError};
use workforce_domain::project::Workspace;
use workforce_git::CommitId;

use super::forge;
use super::work::{self, Credit};
use crate::state::EngineState;
use crate::tickets::fault::{failure, is_of_files, of_git};
use crate::tickets::leases::hold::holding;
use crate::tickets::repository::PATIENCE;
use crate::tickets::repository::worktree;

/// Brings a ticket before the board that is due.
pub(super) async fn bring(state: &Arc<EngineState>, due: TicketAdvance) -> Result<(), StoreError> {
    let (company, issue) = (due.scope(), due.issue);
    let found = state
        .store
        .read(move |reads| advance::advance_of(reads, company, issue))
        .await?;
    let Some(found) = found else {
        return Ok(());
    };
    let due = found.advance.clone();
    let work = Box::pin(look(state, &found));
    let looked = holding(state, company, &found.worktrees, work).await;
    match looked {
        Ok(None) | Err(CarryOutError::Overtaken) => Ok(()),
        // The next server finds it as it was.
        Err(CarryOutError::Step(_)) if state.breaking_off.is_cancelled() => Ok(()),
        Ok(Some(work)) => {
            state
                .store
                .write(move |tx, ctx| Ok(advance::finish_advance(tx, ctx, &due, &work)?))
                .await
        }
        Err(CarryOutError::Step(failure)) => {
            tracing::info!(issue = %issue, "a ticket waits: {}", failure.message);
            state
                .store
                .write(move |tx, ctx| Ok(advance::put_off_advance(tx, ctx, &due, &failure)?))
                .await
        }
        Err(CarryOutError::Store(error)) => Err(error),
    }
}

/// Commits the work of a ticket and brings it up to its base branch.
///
/// # Errors
/// What may be otherwise the next time.
async fn look(state: &Arc<EngineState>, found: &Advance) -> Result<WorkState, CarryOutError> {
    let mut differs = false;
    let mut told: Vec<Value> = Vec::new();
    for (record, workspace) in &found.worktrees {
        let company = found.issue.scope();
        let credit = credit(state, &found.issue, record.id).await?;
        match bring_up(state, record, workspace, &found.issue, &credit).await {
            Ok(brought) => {
                differs |= brought.differs;
                told.push(brought.shown);
                note_head(state, company, record.id, brought.head).await?;
            }
            Err(failure) if has_to_mend(&found.advance, &failure) => {
                return Ok(WorkState::Unfit {
                    workspace: record.id,
                    failure,
                });
            }
            Err(failure) => return Err(CarryOutError::Step(Box::new(failure))),
        }
    }
    Ok(WorkState::Ready {
        differs,
        summary: Value::Array(told),
    })
}

/// After so many attempts what is wrong with a worktree does not pass by itself.
const PASSING: i32 = 3;

/// Whether the agent of a ticket must do something about what keeps it from the board.
fn has_to_mend(advance: &TicketAdvance, failure: &StepFailure) -> bool {
    failure.fault.is_for_agent() || (is_of_files(failure) && advance.attempts >= PASSING)
}

/// Work that is committed and has all of its base branch.
struct Brought {
    head: CommitId,
    /// Whether there is anything to merge.
    differs: bool,
    /// What the board is shown of it.
    shown: Value,
}

async fn bring_up(
    state: &EngineState,
    record: &ExecutionWorkspace,
    workspace: &Workspace,
    issue: &Issue,
    credit: &Credit,
) -> Result<Brought, StepFailure> {
    let step = ExecutionStep::Commit;
    let settings = &state.config.tickets;
    let opened = worktree::open_or_make_again(state, record, workspace, step).await;
    let (source, opened) = opened?;
    let lock = source.repository.lock(PATIENCE).await;
    let _lock = lock.map_err(|error| of_git(step, &error))?;
    work::commit(settings, &opened, issue, credit).await?;
    let synced = work::sync(state, record, &opened, issue, credit).await?;
    let (differs, shown) = forge::summary(record, &opened, &synced.value, step).await?;
    Ok(Brought {
        head: synced.value.head,
        differs,
        shown,
    })
}

async fn note_head(
    state: &EngineState,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
    head: CommitId,
) -> Result<(), StoreError> {
    state
        .store
        .write(move |tx, ctx| Ok(advance::note_head(tx, ctx, company, id, head.as_str())?))
        .await
}

/// Whose work lies in a worktree.
pub(in crate::tickets) async fn credit(
    state: &EngineState,
    issue: &Issue,
    worktree: ExecutionWorkspaceId,
) -> Result<Credit, StoreError> {
    let (company, assignee, issue) = (issue.scope(), issue.assignee.agent(), issue.id);
    state
        .store
        .read(move |reads| {
            let agent = match assignee {
                Some(agent) => reads.agents().find(company.into(), agent)?,
                None => None,
            };
            Ok(Credit {
                agent: agent.map(|agent| (agent.id, agent.name.to_string())),
                run: reads.execution_workspaces().last_run(company, worktree)?,
                approval: approved_plan(reads, company, issue)?,
            })
        })
        .await
}

/// The plan of an issue that the board approved last.
fn approved_plan(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<ApprovalId>, StoreError> {
    let page = reads
        .approvals()
        .of_issue(company, issue, &PageRequest::first())?;
    let is_plan = |it: &&Approval| {
        it.kind == ApprovalType::ApproveIssuePlan && it.status() == ApprovalStatus::Approved
    };
    Ok(page.items.iter().find(is_plan).map(|plan| plan.id))
}

/// Brings up the work of a ticket while somebody waits who asks the board for it: what the
/// board is to be shown.
pub(crate) async fn sync(
    state: &Arc<EngineState>,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Vec<Value>, CarryOutError> {
    let worktrees = worktree::of_issue(state, company, issue).await?;
    let found = state
        .store
        .read(move |reads| reads.issues().find(company.into(), &issue.into()))
        .await?;
    let Some(found) = found else {
        return Ok(Vec::new());
    };
    let work = Box::pin(sync_all(state, company, &found, &worktrees));
    let done = holding(state, company, &worktrees, work).await?;
    done.ok_or_else(|| {
        let message = "workforce itself works in the worktree; ask again in a moment";
        let busy = failure(
            ExecutionStep::Commit,
            StepFault::WorkspaceBusy,
            message,
            json!({}),
        );
        CarryOutError::Step(Box::new(busy))
    })
}

async fn sync_all(
    state: &Arc<EngineState>,
    company: CompanyScope,
    found: &Issue,
    worktrees: &[(ExecutionWorkspace, Workspace)],
) -> Result<Vec<Value>, CarryOutError> {
    let issue = found.id;
    let mut shown = Vec::with_capacity(worktrees.len());
    for (record, workspace) in worktrees {
        let credit = credit(state, found, record.id).await?;
        let brought = bring_up(state, record, workspace, found, &credit).await;
        let brought = match brought {
            Ok(brought) => brought,
            Err(failure) => {
                if failure.fault.is_for_agent() {
                    let (id, told) = (record.id, failure.clone());
                    state
                        .store
                        .write(move |tx, ctx| {
                            Ok(advance::mend_for_approval(
                                tx, ctx, company, issue, id, &told,
                            )?)
                        })
                        .await?;
                }
                return Err(CarryOutError::Step(Box::new(failure)));
            }
        };
        note_head(state, company, record.id, brought.head).await?;
        shown.push(brought.shown);
    }
    Ok(shown)
}
