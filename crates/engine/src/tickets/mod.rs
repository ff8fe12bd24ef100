//! What approvals ask for outside of the store: worktrees, commits, pushes and pull
//! requests (docs/tickets.md). Everything that git is told comes from rows of the
//! server's own.
//!
//! `carry_out` takes the steps of an approval, of a plan (`provision`) or of work that is
//! done (`deliver`); `upkeep` goes on after that. All of them work on what `repository`
//! opens, for as long as `leases` lets them. What is due by itself goes on in `rounds`.

mod carry_out;
mod deliver;
mod fault;
mod leases;
mod provision;
mod repository;
mod rounds;
mod settings;
mod upkeep;

pub(crate) use carry_out::carry_out;
pub(crate) use deliver::advance::sync;
pub(crate) use deliver::due::run as run_advances;
pub(crate) use provision::preflight::preflight;
pub(crate) use repository::inspect::{diff, inspect};
pub(crate) use repository::remotes::of_workspace as addresses;
pub(crate) use repository::worktree::{NoPlace, Place, place_of};
pub(crate) use settings::LazyGit;
pub use settings::{CommitIdentity, TicketSettings, WebhookSecret};
pub(crate) use upkeep::run as run_upkeep;
pub(crate) use upkeep::taken_messages::TakenMessages;
pub(crate) use upkeep::watch::run as run_watches;
pub(crate) use upkeep::webhook::take as take_delivery;

use workforce_domain::port::StoreError;

use crate::state::EngineState;

/// Gives up what predecessors of this server left in the midst of a step, and lets runs into the
/// worktrees that they kept them out of.
pub(crate) async fn give_up_left(state: &EngineState) -> Result<(), StoreError> {
    leases::attempt::abandon_of_predecessors(state).await?;
    leases::hold::end_of_predecessors(state).await
}
