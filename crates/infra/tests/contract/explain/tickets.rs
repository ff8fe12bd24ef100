//! What is asked about governed tickets: by those who work on them, and every second by the
//! servers, which look for the next few rows of a queue.

use std::time::Duration;

use workforce_domain::Document;
use workforce_domain::actor::InstanceScope;
use workforce_domain::approval::{Approval, ApprovalExecution, ExecutionState, ExecutionStep};
use workforce_domain::board::BoardMember;
use workforce_domain::execution_workspace::{
    ChecksState, ExecutionWorkspace, ExecutionWorkspaceStatus, PullRequest, PullRequestState,
    PullRequestTraits, PullRequestWatch, TicketAdvance,
};
use workforce_domain::issue::Issue;
use workforce_domain::port::{Locked, Reads, StoreError, Tx};
use workforce_domain::project::Project;

use super::Body;
use super::filling::Asked;
use crate::goals_and_projects::workspace;
use crate::world::{id, later, now};

/// So many rows of a queue are taken at a time.
const BATCH: usize = 20;

/// The worktree of a ticket, its advance, and for every other one an open pull request.
pub(super) fn add_ticket(
    tx: &mut dyn Tx,
    issue: &Issue,
    project: &Project,
    n: u64,
) -> Result<(), StoreError> {
    let place = workspace(project, true, n);
    let held = Locked::assume_locked(project.clone());
    tx.projects_mut().insert_workspace(&held, &place)?;
    let is_open = n.is_multiple_of(2);
    let statuses = [
        ExecutionWorkspaceStatus::Ready,
        ExecutionWorkspaceStatus::Removed,
        ExecutionWorkspaceStatus::Ready,
    ];
    let key = format!("T-{n}");
    let worktree = tx.execution_workspaces_mut().insert(ExecutionWorkspace {
        id: id(),
        company: issue.company,
        owner: Some(issue.id),
        project_workspace: place.id,
        ticket_key: key.clone(),
        branch: format!("feature/{key}"),
        base_branch: "main".into(),
        path: ExecutionWorkspace::path_of(issue.company, place.id, &key),
        status: statuses[n as usize % statuses.len()],
        repository_url: None,
        fetch_address: None,
        push_address: None,
        base_commit: None,
        head_commit: None,
        pushed_commit: Some(format!("{n:040x}")),
        pull_request: is_open.then(|| PullRequest {
            number: 1,
            url: "https://example.com/1".into(),
            state: PullRequestState::Open,
        }),
        conflict_wakes: 0,
        held_until: n.is_multiple_of(50).then(|| later(n)),
        held_by: None,
        clean_up_after: later(n),
        kept_because: None,
        disorder: None,
        created_at: now(),
        updated_at: now(),
    })?;
    if is_open {
        let watch = PullRequestWatch {
            workspace: worktree.id,
            company: worktree.company,
            due_at: later(n),
            fence: 0,
            attempts: 0,
            validators: Document::new(),
            checks: ChecksState::None,
            head_commit: None,
            drift_due_at: later(n),
            merged_base: None,
            merged_head: None,
            obstacle: None,
            escalated: false,
            created_at: now(),
        };
        tx.pull_request_watches_mut().save(&worktree, &watch)?;
    }
    let advance = TicketAdvance {
        issue: issue.id,
        company: issue.company,
        attempts: 0,
        not_before: later(n),
        error_code: None,
        error: None,
        created_at: now(),
    };
    let held = Locked::assume_locked(issue.clone());
    tx.execution_workspaces_mut().save_advance(&held, &advance)
}

/// The execution of an approval, of which a few are not over.
pub(super) fn add_execution(
    tx: &mut dyn Tx,
    approval: &Locked<Approval>,
    n: u64,
) -> Result<(), StoreError> {
    let is_live = n.is_multiple_of(40);
    let execution = ApprovalExecution {
        approval: approval.id,
        company: approval.company,
        state: match is_live {
            true => ExecutionState::Executing,
            false => ExecutionState::Failed,
        },
        step: ExecutionStep::Commit,
        error_code: (!is_live).then(|| "git_failed".into()),
        error: None,
        details: Document::new(),
        attempts: 1,
        forced: false,
        decided_by: BoardMember::Local,
        note: None,
        lease_expires_at: is_live.then(|| later(n)),
        server: None,
        started_at: now(),
        updated_at: now(),
    };
    tx.approvals_mut().save_execution(approval, &execution)
}

/// What servers look for again and again: the first rows of a queue, in its order.
pub(super) fn queues(_asked: &Asked) -> Vec<(String, Body<'_>)> {
    vec![(
        "queues of tickets".into(),
        Box::new(|reads: &mut dyn Reads| {
            let (instance, soon) = (InstanceScope::SYSTEM, later(30));
            let approvals = reads
                .approvals()
                .abandoned_executions(instance, soon, BATCH)?;
            assert!(!approvals.is_empty());
            reads
                .approvals()
                .executions_left_by(instance, &[id()], BATCH)?;
            let worktrees = reads.execution_workspaces();
            assert_eq!(worktrees.due_advances(instance, soon, BATCH)?.len(), BATCH);
            assert!(!worktrees.held_before(instance, soon, BATCH)?.is_empty());
            worktrees.held_by(instance, &[id()], BATCH)?;
            let ended_by = now().minus(Duration::from_secs(1));
            worktrees.to_clean_up(instance, ended_by, soon, BATCH)?;
            let watches = reads.pull_request_watches();
            assert_eq!(watches.due(instance, soon, BATCH)?.len(), BATCH);
            assert_eq!(watches.due_drifts(instance, soon, BATCH)?.len(), BATCH);
            Ok(())
        }),
    )]
}

/// What is asked about one ticket, worktree, approval or message of a forge.
pub(super) fn look_ups(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    vec![(
        "look-ups of tickets".into(),
        Box::new(move |reads: &mut dyn Reads| {
            let worktrees = reads.execution_workspaces();
            let owned = worktrees.owned_by(scope, asked.issue)?;
            let (worktree, place) = (owned[0].id, owned[0].project_workspace);
            worktrees.find(scope.into(), worktree)?;
            worktrees.of_ticket(scope, place, "T-0")?;
            worktrees.on_branch(scope, place, "feature/T-0")?;
            worktrees.open_ticket_of(scope, place)?;
            worktrees.of_run(scope, id())?;
            worktrees.live_run(scope, worktree)?;
            worktrees.last_run(scope, worktree)?;
            worktrees.open_issue_in(scope, worktree)?;
            assert!(worktrees.advance(scope, asked.issue)?.is_some());
            let watches = reads.pull_request_watches();
            watches.find(scope, worktree)?;
            let traits = PullRequestTraits {
                numbers: vec![1],
                branches: vec!["feature/T-0".into()],
                commit: "0".repeat(40),
            };
            watches.worktrees_with(InstanceScope::SYSTEM, &traits, BATCH)?;
            let approvals = reads.approvals();
            approvals.executions(scope, &[id(), id()])?;
            approvals.execution_steps(scope, &[id(), id()])?;
            Ok(())
        }),
    )]
}
