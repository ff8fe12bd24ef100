use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, InstanceScope};
use crate::execution_workspace::{ExecutionWorkspace, PullRequestTraits, PullRequestWatch};
use crate::id::ExecutionWorkspaceId;
use crate::time::Timestamp;

/// Reads of the watches of open pull requests.
pub trait PullRequestWatchReads {
    /// The watch of the open pull request of a worktree.
    fn find(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<PullRequestWatch>, StoreError>;

    /// Watches whose forge is to be asked, the longest due first.
    fn due(
        &mut self,
        instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<PullRequestWatch>, StoreError>;

    /// Watches whose base branch is to be looked at, the longest due first.
    fn due_drifts(
        &mut self,
        instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<PullRequestWatch>, StoreError>;

    /// Worktrees whose open pull request is watched and has one of these traits, in
    /// any repository.
    fn worktrees_with(
        &mut self,
        instance: InstanceScope,
        traits: &PullRequestTraits,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
}

/// Writes of the watches of open pull requests.
pub trait PullRequestWatchWrites {
    /// Stores the watch of a locked worktree, in place of any it has.
    fn save(
        &mut self,
        workspace: &Locked<ExecutionWorkspace>,
        watch: &PullRequestWatch,
    ) -> Result<(), StoreError>;

    /// Removes the watch of a locked worktree.
    fn end(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError>;
}
