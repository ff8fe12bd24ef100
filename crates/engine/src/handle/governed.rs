//! What the interface has done about governed tickets.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinError;
use workforce_domain::actor::CompanyScope;
use workforce_domain::execution_workspace::{DiffRequest, WorktreeDiff, WorktreeState};
use workforce_domain::forge::ForgeKind;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId, InstanceId, IssueId, WorkspaceId};
use workforce_domain::port::{
    AgreedWork, CarryOutError, CarryOutFuture, DeliveryFuture, ForgeDelivery, ForgeWebhooks,
    GovernedWork, PreflightFuture, RemoteAddresses, StoreError, WorktreeFuture,
};

use super::EngineHandle;
use crate::tickets;

impl EngineHandle {
    /// Runs work with git on the runtime of the engine, to its end.
    async fn looking<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, CarryOutError>> + Send + 'static,
    ) -> Result<T, CarryOutError> {
        let lost = |error: JoinError| CarryOutError::Store(StoreError::Failed(error.into()));
        let task = self.state.tickets.spawn_on(work, &self.runtime);
        task.await.unwrap_or_else(|error| Err(lost(error)))
    }
}

impl GovernedWork for EngineHandle {
    fn server(&self) -> InstanceId {
        self.state.config.instance
    }

    fn preflight(&self, company: CompanyScope, approval: ApprovalId) -> PreflightFuture<'_> {
        Box::pin(tickets::preflight(&self.state, company, approval))
    }

    fn carry_out(
        &self,
        company: CompanyScope,
        approval: ApprovalId,
        agreed: AgreedWork,
    ) -> CarryOutFuture<'_> {
        let state = Arc::clone(&self.state);
        Box::pin(tickets::carry_out(
            state,
            &self.runtime,
            company,
            approval,
            agreed,
        ))
    }

    fn inspect(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
    ) -> WorktreeFuture<'_, WorktreeState> {
        let state = Arc::clone(&self.state);
        Box::pin(self.looking(async move { tickets::inspect(state, company, worktree).await }))
    }

    fn diff(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
        request: DiffRequest,
    ) -> WorktreeFuture<'_, WorktreeDiff> {
        let state = Arc::clone(&self.state);
        Box::pin(
            self.looking(async move { tickets::diff(state, company, worktree, request).await }),
        )
    }

    fn sync(&self, company: CompanyScope, issue: IssueId) -> WorktreeFuture<'_, Vec<Value>> {
        let state = Arc::clone(&self.state);
        Box::pin(self.looking(async move { tickets::sync(&state, company, issue).await }))
    }

    fn addresses(
        &self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> WorktreeFuture<'_, Option<RemoteAddresses>> {
        let state = Arc::clone(&self.state);
        Box::pin(self.looking(async move { tickets::addresses(&state, company, workspace).await }))
    }
}

impl ForgeWebhooks for EngineHandle {
    fn is_configured(&self, forge: ForgeKind) -> bool {
        let secrets = &self.state.config.tickets.webhook_secrets;
        secrets.contains_key(&forge)
    }

    fn take(&self, delivery: ForgeDelivery) -> DeliveryFuture<'_> {
        let state = Arc::clone(&self.state);
        Box::pin(tickets::take_delivery(state, delivery))
    }
}
