//! A client for the forges that keep repositories and pull requests: GitHub and GitHub
//! Enterprise, GitLab, Gitea and Forgejo.
//!
//! [`Forges`] chooses a [`Forge`] by the host of a [`RepositoryAddress`]. A forge makes a pull
//! request exactly once, however often it is asked to ([`Forge::find_or_create`]), and tells
//! cheaply what became of it ([`Forge::state`]). [`webhook`] reads what forges tell by themselves.
//!
//! ```no_run
//! use workforce_forges::{Forges, Limits, NewPullRequest, RepositoryAddress, Token, Watched};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let forges = Forges::new(Vec::new(), Limits::default())?;
//! let repository = RepositoryAddress::parse("git@github.com:acme/shop.git").ok_or("no forge")?;
//! let forge = forges.of(&repository).ok_or("a forge that is not known")?;
//! let forge = forge.with_token(Token::parse("ghp_...").ok_or("no token")?);
//! let made = forge.find_or_create(&NewPullRequest {
//!     repository: repository.clone(),
//!     head: "agents/SHOP-12".to_owned(),
//!     head_sha: None,
//!     base: "main".to_owned(),
//!     title: "SHOP-12: Sell shoes".to_owned(),
//!     body: String::new(),
//!     draft: false,
//! })?;
//! if let Watched::Changed(snapshot, validators) = forge.state(&repository, made.number, None)? {
//!     assert_eq!(snapshot.pull_request.number, made.number);
//!     // The validators are kept for the next look.
//!     forge.state(&repository, made.number, Some(&validators))?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Everything blocks; callers run it on threads of their own. The crate knows no store, no
//! program and no use case. A token goes to the host of the configured interface and nowhere
//! else, and stands in no text.

mod address;
mod api;
mod config;
mod dialect;
mod error;
mod exchange;
mod forge;
mod forges;
mod host;
mod kind;
mod limits;
mod pause;
mod pull_request;
mod refusal;
mod token;
mod turns;
mod validators;
pub mod webhook;

pub use address::RepositoryAddress;
pub use config::{ConfigError, ForgeConfig};
pub use error::ForgeError;
pub use forge::Forge;
pub use forges::Forges;
pub use limits::Limits;
pub use pull_request::{
    Checks, ChecksState, FailedCheck, NewPullRequest, PullRequest, PullRequestState, Snapshot,
};
pub use token::Token;
pub use validators::{Validators, Watched};
pub use workforce_domain::forge::ForgeKind;
