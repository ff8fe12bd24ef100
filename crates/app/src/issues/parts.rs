//! What is worked on in the worktree of a ticket ends with the ticket
//! (docs/issues.md#governed-issues).

use core::cmp::Reverse;

use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::Replace;
use workforce_domain::id::{ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::{Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};

use super::update_command::UpdateIssue;
use super::{IssueError, advance, approval, seen};
use crate::approval_records;
use crate::context::Context;

/// The open parts of a ticket, locked.
pub(super) struct Parts {
    worktrees: Vec<ExecutionWorkspaceId>,
    below: Vec<Locked<Issue>>,
}

impl Parts {
    /// Locks what ends with an issue that a change ends; nothing where the issue has no worktree of
    /// its own. Comes before the lock on the issue.
    pub(super) fn lock(
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &IssueRef,
        command: &UpdateIssue,
    ) -> Result<Self, Failure<IssueError>> {
        let nothing = Self {
            worktrees: Vec::new(),
            below: Vec::new(),
        };
        if !matches!(command.status, Replace::Set(to) if to.is_terminal()) {
            return Ok(nothing);
        }
        let issue = seen(tx.reads(), ctx, issue)?;
        let worktrees = owned(tx.reads(), &issue)?;
        if worktrees.is_empty() {
            return Ok(nothing);
        }
        let below = tx.issues_mut().lock_below(issue.scope(), issue.id)?;
        Ok(Self { worktrees, below })
    }

    /// Ends what is open in the worktrees of a ticket, where the ticket is about to end, and as that
    /// does.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when the ticket has got a worktree since its parts were locked.
    pub(super) fn end_with(
        self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &Issue,
        to: IssueStatus,
    ) -> Result<(), Failure<IssueError>> {
        if issue.status().is_terminal() || !to.is_terminal() {
            return Ok(());
        }
        if owned(tx.reads(), issue)? != self.worktrees {
            return Err(StoreError::Contended.into());
        }
        let works_there = |part: &Locked<Issue>| {
            let worktree = part.execution_workspace;
            !part.status().is_terminal()
                && worktree.is_some_and(|worktree| self.worktrees.contains(&worktree))
        };
        let mut open: Vec<Locked<Issue>> = self.below.into_iter().filter(works_there).collect();
        if open.is_empty() {
            return Ok(());
        }
        // In the order of locks: the approvals of all, then runs.
        let ended = open.iter().map(|part| part.id).chain([issue.id]);
        let ended: Vec<IssueId> = ended.collect();
        approval_records::cancel_orphaned(tx, ctx, issue.scope(), &ended)?;
        // The younger ones first.
        open.sort_unstable_by_key(|part| Reverse(part.id));
        let above = Some(issue.id);
        approval::end(
            tx,
            ctx,
            &mut open,
            to,
            above,
            |_| json!({ "completedBy": "cascade" }),
        )
    }
}

fn owned(reads: &mut dyn Reads, issue: &Issue) -> Result<Vec<ExecutionWorkspaceId>, StoreError> {
    let owned = reads
        .execution_workspaces()
        .owned_by(issue.scope(), issue.id)?;
    Ok(owned.into_iter().map(|worktree| worktree.id).collect())
}

/// Refuses to end a ticket while others work in its worktree.
pub(super) fn require_ended(
    reads: &mut dyn Reads,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    if owned(reads, issue)?.is_empty() {
        return Ok(());
    }
    advance::require_children_ended(reads, issue)
}
