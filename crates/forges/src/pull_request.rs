use serde::{Deserialize, Serialize};
use workforce_domain::string_enum;
use workforce_domain::time::Timestamp;

use crate::address::RepositoryAddress;

string_enum! {
    /// What became of a pull request.
    pub enum PullRequestState {
        /// Neither merged nor closed.
        Open = "open",
        /// Its commits are in the base branch.
        Merged = "merged",
        /// Closed without a merge. It may be opened again.
        Closed = "closed",
    }
}

string_enum! {
    /// What the checks of a commit say together.
    pub enum ChecksState {
        /// There are none.
        None = "none",
        /// All passed, or do not count.
        Passed = "passed",
        /// Not all can be seen: the token may not see them, or there are too many.
        Unknown = "unknown",
        /// Some have not ended, and none failed.
        Pending = "pending",
        /// At least one failed.
        Failed = "failed",
    }
}

/// A pull request, or merge request, as its forge tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// Its number in the repository.
    pub number: u64,
    /// Its web page: http or https, on the host of the repository or of the interface.
    pub url: String,
    /// What became of it.
    pub state: PullRequestState,
    /// Whether it is not to be merged yet.
    pub is_draft: bool,
    /// The newest commit that it wants to merge, in hexadecimal digits; empty while the forge has
    /// not looked at it.
    pub head_sha: String,
    /// The branch that it wants to merge.
    pub head_branch: String,
    /// The branch that it wants to merge into.
    pub base_branch: String,
    /// Its title, at most 1,000 characters of it.
    pub title: String,
    /// When it was merged.
    pub merged_at: Option<Timestamp>,
}

/// A pull request to be made within one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPullRequest {
    /// Where.
    pub repository: RepositoryAddress,
    /// The branch to merge. It was pushed before.
    pub head: String,
    /// The commit that was pushed to it, if it is known: then a pull request of exactly this
    /// commit that was merged or closed meanwhile counts as the one to be made.
    pub head_sha: Option<String>,
    /// The branch to merge into.
    pub base: String,
    /// Its title; what is more than 255 characters is cut off.
    pub title: String,
    /// Its text in Markdown; what is more than 65,000 characters is cut off.
    pub body: String,
    /// Whether it is not to be merged yet. Not every repository of GitHub takes drafts.
    pub draft: bool,
}

/// What the checks of a commit say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// All of them together.
    pub state: ChecksState,
    /// Those that failed, at most [`Checks::MAX_FAILED`].
    pub failed: Vec<FailedCheck>,
}

impl Checks {
    /// So many failed checks are named.
    pub const MAX_FAILED: usize = 20;

    /// Nothing but a state.
    pub(crate) const fn only(state: ChecksState) -> Self {
        Self {
            state,
            failed: Vec::new(),
        }
    }

    /// Both together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.state = self.state.max(other.state);
        let room = Self::MAX_FAILED.saturating_sub(self.failed.len());
        self.failed.extend(other.failed.into_iter().take(room));
        self
    }
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// Its name, at most 200 characters of it.
    pub name: String,
    /// A web page about it: http or https, on any host.
    pub url: Option<String>,
}

/// A pull request with what its checks say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The pull request.
    pub pull_request: PullRequest,
    /// The checks of its newest commit.
    pub checks: Checks,
}
