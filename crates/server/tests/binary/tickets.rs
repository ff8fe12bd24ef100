//! Governed tickets from the plan to the pull request, with real repositories, a
//! remote that is a bare repository, and an imitation of the forge.

mod approvals;
mod commits;
mod decisions;
mod ends;
mod failures;
mod filters;
mod flow;
mod guard;
mod kills;
pub(crate) mod repositories;
mod requests;
mod runs;
mod scene;
mod seen;
mod sync;
mod takeovers;
mod tokens;
mod tricks;
mod watch;
