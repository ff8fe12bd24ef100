//! Mocks of `port/pull_request_watches.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope};
use crate::execution_workspace::{ExecutionWorkspace, PullRequestTraits, PullRequestWatch};
use crate::id::ExecutionWorkspaceId;
use crate::port::{Locked, PullRequestWatchReads, PullRequestWatchWrites, StoreError};
use crate::time::Timestamp;

mock! {
    pub PullRequestWatches {}

    impl PullRequestWatchReads for PullRequestWatches {
        fn find(
            &mut self,
            company: CompanyScope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<PullRequestWatch>, StoreError>;
        fn due(
            &mut self,
            instance: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<PullRequestWatch>, StoreError>;
        fn due_drifts(
            &mut self,
            instance: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<PullRequestWatch>, StoreError>;
        fn worktrees_with(
            &mut self,
            instance: InstanceScope,
            traits: &PullRequestTraits,
            limit: usize,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
    }

    impl PullRequestWatchWrites for PullRequestWatches {
        fn save(
            &mut self,
            workspace: &Locked<ExecutionWorkspace>,
            watch: &PullRequestWatch,
        ) -> Result<(), StoreError>;
        fn end(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError>;
    }
}
