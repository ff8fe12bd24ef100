use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::execution_workspace::{ExecutionWorkspace, TicketAdvance};
use crate::id::{ExecutionWorkspaceId, InstanceId, IssueId, RunId, WorkspaceId};
use crate::issue::Issue;
use crate::time::Timestamp;

/// Reads of the worktrees of governed tickets.
pub trait ExecutionWorkspaceReads {
    /// The worktree with this id.
    fn find(
        &mut self,
        scope: Scope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError>;

    /// The worktree of a ticket in a workspace of a project.
    fn of_ticket(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
        ticket_key: &str,
    ) -> Result<Option<ExecutionWorkspace>, StoreError>;

    /// The worktree with this branch in a workspace of a project, unless it was
    /// removed.
    fn on_branch(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
        branch: &str,
    ) -> Result<Option<ExecutionWorkspace>, StoreError>;

    /// Worktrees of a company that have this branch, or start from it, in whatever workspace;
    /// without removed ones.
    fn naming_branch(
        &mut self,
        company: CompanyScope,
        branch: &str,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// The worktrees of the ticket of an issue, oldest first.
    fn owned_by(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// An open issue whose ticket has a worktree of this workspace of a project, if
    /// there is one.
    fn open_ticket_of(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Option<IssueId>, StoreError>;

    /// The worktrees of a workspace of a project that were not removed, by branch.
    fn of_workspace(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// The worktree that a run works in.
    fn of_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError>;

    /// The run that works in a worktree.
    fn live_run(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<RunId>, StoreError>;

    /// The run that worked in a worktree last, also one that still does.
    fn last_run(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<RunId>, StoreError>;

    /// The advance of the ticket of an issue that is to be made.
    fn advance(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<TicketAdvance>, StoreError>;

    /// Worktrees that runs are kept out of until earlier than `before`, also those
    /// where that time has passed.
    fn held_before(
        &mut self,
        instance: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// Worktrees that one of these servers keeps runs out of.
    fn held_by(
        &mut self,
        instance: InstanceScope,
        servers: &[InstanceId],
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// Advances that are due, the longest first.
    fn due_advances(
        &mut self,
        instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<TicketAdvance>, StoreError>;

    /// An issue that has not ended and is worked on in a worktree.
    fn open_issue_in(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<IssueId>, StoreError>;

    /// Worktrees that are ready although the issue of their ticket ended no later than
    /// `ended_by`, and that are to be looked at by `now`.
    fn to_clean_up(
        &mut self,
        instance: InstanceScope,
        ended_by: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
}

/// Writes of the worktrees of governed tickets.
pub trait ExecutionWorkspaceWrites {
    /// Stores a new worktree and holds it.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another was made meanwhile for its ticket
    /// or on its branch.
    fn insert(
        &mut self,
        workspace: ExecutionWorkspace,
    ) -> Result<Locked<ExecutionWorkspace>, StoreError>;

    /// Locks a worktree.
    fn lock(
        &mut self,
        scope: Scope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<Locked<ExecutionWorkspace>>, StoreError>;

    /// Stores a locked worktree.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another was made meanwhile on its branch.
    fn save(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError>;

    /// Stores the advance of the ticket of a locked issue, in place of any it has.
    fn save_advance(
        &mut self,
        issue: &Locked<Issue>,
        advance: &TicketAdvance,
    ) -> Result<(), StoreError>;

    /// Removes the advance of the ticket of a locked issue.
    fn end_advance(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
}
