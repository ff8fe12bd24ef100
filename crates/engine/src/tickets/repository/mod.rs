//! The repository of a ticket: where it comes from, where it is fetched from and pushed
//! to and with which token, its worktree, and a look at that from outside.

pub(super) mod branches;
pub(super) mod inspect;
mod order;
pub(super) mod remotes;
pub(super) mod source;
pub(super) mod token;
pub(super) mod worktree;

use std::time::Duration;

use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::StepFailure;
use workforce_git::Git;

use super::fault::of_git;
use crate::state::EngineState;

/// How long a step waits for somebody else who works with the repository.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// git, for whoever only looks.
pub(super) async fn git_of(state: &EngineState, step: ExecutionStep) -> Result<&Git, StepFailure> {
    state.git().await.map_err(|error| of_git(step, &error))
}
