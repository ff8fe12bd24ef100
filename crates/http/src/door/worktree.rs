//! What lies outside of the store for an approval or an issue: repositories and worktrees.

use workforce_domain::actor::CompanyScope;
use workforce_domain::execution_workspace::{DiffRequest, WorktreeDiff, WorktreeState};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId, IssueId};
use workforce_domain::port::Preflight;

use super::Visit;
use crate::problem::Problem;
use crate::routes;

impl Visit {
    /// What approving an undecided plan would find.
    ///
    /// # Errors
    /// The store failed.
    pub async fn preflight(
        &self,
        company: CompanyScope,
        approval: ApprovalId,
    ) -> Result<Vec<Preflight>, Problem> {
        let found = self.state().ports.governed.preflight(company, approval);
        let found = found.await.map_err(Problem::from);
        found.inspect_err(|problem| self.note(problem))
    }

    /// What lies in a worktree now.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub async fn worktree_state(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
    ) -> Result<WorktreeState, Problem> {
        let found = self.state().ports.governed.inspect(company, worktree);
        found.await.map_err(Problem::not_carried_out)
    }

    /// What a worktree changes of its base branch.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub async fn worktree_diff(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
        request: DiffRequest,
    ) -> Result<WorktreeDiff, Problem> {
        let found = self.state().ports.governed.diff(company, worktree, request);
        found.await.map_err(Problem::not_carried_out)
    }

    /// Brings the work of an issue together before it is shown to the board again: what there is
    /// to be shown, or `None` where that is not known now.
    ///
    /// # Errors
    /// The store failed.
    pub async fn work_to_show(
        &self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<Vec<serde_json::Value>>, Problem> {
        let shown = routes::work_to_show(self.state(), company, issue).await;
        shown.inspect_err(|problem| self.note(problem))
    }
}
