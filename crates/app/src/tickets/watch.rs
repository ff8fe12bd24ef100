//! The pull request of a ticket is watched from its opening to its end.

use std::time::Duration;

use workforce_domain::actor::CompanyOwned;
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, PullRequestState, PullRequestWatch,
};
use workforce_domain::port::{Locked, StoreError, Tx};

use crate::context::Context;

/// The base branch of a pull request is looked at no more often.
pub(crate) const DRIFT_EVERY: Duration = Duration::from_secs(10 * 60);

/// Begins to watch the pull request of a worktree to which its branch was pushed just
/// now, with this commit of the base branch merged into it. Ends to watch one that is
/// open no more.
pub(crate) fn watch_pull_request(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    worktree: &Locked<ExecutionWorkspace>,
    merged_base: Option<String>,
) -> Result<(), StoreError> {
    let pull_request = worktree.pull_request.as_ref();
    if pull_request.is_none_or(|it| it.state != PullRequestState::Open) {
        return tx.pull_request_watches_mut().end(worktree);
    }
    let company = worktree.scope();
    let known = tx.pull_request_watches().find(company, worktree.id)?;
    let mut watch = known.unwrap_or_else(|| PullRequestWatch::new(company, worktree.id, ctx.now));
    watch.due_at = ctx.now;
    watch.attempts = 0;
    watch.drift_due_at = ctx.now.plus(DRIFT_EVERY);
    watch.merged_base = merged_base.or(watch.merged_base);
    watch.merged_head = None;
    watch.obstacle = None;
    watch.escalated = false;
    tx.pull_request_watches_mut().save(worktree, &watch)
}
