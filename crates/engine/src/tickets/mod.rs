//! What approvals ask for outside of the store: worktrees, commits, pushes and pull
//! requests (docs/tickets.md). Everything that git is told comes from rows of the
//! server's own.

mod advance;
mod clean_up;
mod drift;
mod execution;
mod fault;
mod forge;
mod hold;
mod inspect;
mod lease;
mod plan;
mod preflight;
mod push;
mod remotes;
mod settings;
mod source;
mod token;
mod upkeep;
mod watch;
mod webhook;
mod work;
mod worktree;

pub(crate) use advance::{run as run_advances, sync};
pub(crate) use execution::carry_out;
pub(crate) use inspect::{diff, inspect};
pub(crate) use preflight::preflight;
pub(crate) use settings::LazyGit;
pub use settings::{CommitIdentity, TicketSettings, WebhookSecret};
pub(crate) use upkeep::run as run_upkeep;
pub(crate) use watch::run as run_watches;
pub(crate) use webhook::take as take_delivery;
pub(crate) use worktree::{NoPlace, Place, place_of};
