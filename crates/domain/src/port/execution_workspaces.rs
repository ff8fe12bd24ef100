use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::execution_workspace::ExecutionWorkspace;
use crate::id::{ExecutionWorkspaceId, IssueId, WorkspaceId};

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

    /// The worktrees of the ticket of an issue, oldest first.
    fn owned_by(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;

    /// The address that the oldest worktree of a workspace is pushed to.
    fn remote_of(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError>;
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
}
