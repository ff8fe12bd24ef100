//! What forges tell by themselves. Whoever listens [verifies](verify) a delivery before it is
//! [read](parse), and takes what it says as a hint to look: deliveries are lost, come twice and
//! come late.

mod event;
mod gitea;
mod github;
mod gitlab;
mod hub;
mod proof;

use serde::de::DeserializeOwned;
use workforce_domain::forge::ForgeKind;

pub use event::{Event, EventKind};
pub use proof::verify;

/// GitHub and GitLab send no longer ones.
const MAX_BODY: usize = 25 << 20;

/// Reads a delivery. `name` is the header `X-GitHub-Event`, `X-Gitea-Event` or `X-Forgejo-Event`;
/// what GitLab sends says itself what it is about. `None` for what is not understood, and for
/// everything that says nothing about a pull request's state, commits or checks.
#[must_use]
pub fn parse(forge: ForgeKind, name: &str, body: &[u8]) -> Option<Event> {
    if body.len() > MAX_BODY {
        return None;
    }
    match forge {
        ForgeKind::GitHub => github::parse(name, body),
        ForgeKind::GitLab => gitlab::parse(body),
        ForgeKind::Gitea => gitea::parse(name, body),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}
