//! A stand-in for the forges that keep repositories and pull requests, so that tests need no
//! internet.
//!
//! A [`ForgeImitation`] listens on loopback and answers as GitHub, GitLab or Gitea does. It keeps
//! pull requests in memory, lets a test merge them and set their checks, and fails as a test tells
//! it to ([`Failure`]). It holds every request, and every answer of its own, against the
//! published description of the interface, and panics in the end if one does not fit.
//!
//! ```
//! use workforce_forge_imitation::{ForgeImitation, ImitatedForge};
//!
//! let forge = ForgeImitation::start(ImitatedForge::GitHub)?;
//! forge.add_repository("acme/shop");
//! forge.set_branch("acme/shop", "main", &"0".repeat(40));
//! assert!(forge.pull_requests("acme/shop").is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! It serves the interface alone: whoever pushes needs a repository of git elsewhere, which
//! [`ForgeImitation::add_repository_of`] can follow. It knows no other crate.

mod delivery;
mod description;
mod failure;
mod gitea;
mod github;
mod gitlab;
mod imitation;
mod kind;
mod log;
mod reply;
mod request;
mod schema;
mod server;
mod stage;
mod world;

pub use delivery::{Delivery, Happening};
pub use failure::Failure;
pub use imitation::{ForgeImitation, TOKEN};
pub use kind::ImitatedForge;
pub use log::LoggedRequest;
pub use world::{Outcome, PullRequest, PullRequestState};
