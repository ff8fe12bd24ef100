//! What GitHub describes, and Gitea and Forgejo after it.

use serde::Deserialize;

use super::event::{Event, EventKind, Head, Place};

#[derive(Deserialize)]
pub(super) struct Repository {
    full_name: String,
    html_url: String,
}

impl Repository {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            page: &self.html_url,
            full_name: &self.full_name,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct PullRequestDelivery {
    action: String,
    pull_request: PullRequest,
    repository: Repository,
}

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    #[serde(default)]
    merged: Option<bool>,
    head: Branch,
}

#[derive(Deserialize)]
struct Branch {
    r#ref: String,
    sha: String,
}

impl PullRequestDelivery {
    pub(super) fn event(self) -> Option<Event> {
        let pull = self.pull_request;
        let kind = match self.action.as_str() {
            "opened" => EventKind::Opened,
            "reopened" => EventKind::Reopened,
            // The word of GitHub, and that of Gitea.
            "synchronize" | "synchronized" => EventKind::Synchronized,
            "closed" if pull.merged == Some(true) => EventKind::Merged,
            "closed" => EventKind::Closed,
            _ => return None,
        };
        let head = Head {
            sha: &pull.head.sha,
            branches: vec![pull.head.r#ref],
        };
        Event::new(kind, &self.repository.place(), vec![pull.number], head)
    }
}

#[derive(Deserialize)]
pub(super) struct StatusDelivery {
    sha: String,
    /// Gitea tells none.
    #[serde(default)]
    branches: Vec<NamedBranch>,
    repository: Repository,
}

#[derive(Deserialize)]
struct NamedBranch {
    name: String,
}

impl StatusDelivery {
    pub(super) fn event(self) -> Option<Event> {
        let branches = self.branches.into_iter().map(|branch| branch.name);
        let head = Head {
            sha: &self.sha,
            branches: branches.collect(),
        };
        let place = self.repository.place();
        Event::new(EventKind::StatusChanged, &place, Vec::new(), head)
    }
}
