use workforce_domain::string_enum;

use crate::address::RepositoryAddress;

/// So many pull requests and branches are told of one commit.
const MAX_NAMED: usize = 100;
/// Longer names of branches are none.
const MAX_BRANCH: usize = 1024;

string_enum! {
    /// What happened.
    pub enum EventKind {
        /// A pull request was made.
        Opened = "opened",
        /// A closed pull request was opened again.
        Reopened = "reopened",
        /// A pull request has other commits.
        Synchronized = "synchronized",
        /// A pull request was merged.
        Merged = "merged",
        /// A pull request was closed and not merged.
        Closed = "closed",
        /// Checks of a commit ended: on GitHub a check run or a check suite, on GitLab a
        /// pipeline, on Forgejo a run of its actions.
        ChecksCompleted = "checks_completed",
        /// A commit got a status.
        StatusChanged = "status_changed",
    }
}

/// Something that happened in a repository of a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where.
    pub repository: RepositoryAddress,
    /// The numbers of the pull requests that it is about, at most a hundred. No forge always
    /// tells them.
    pub numbers: Vec<u64>,
    /// The commit that it is about, in hexadecimal digits.
    pub head_sha: String,
    /// The branches that the commit is the newest of, as far as they are told, at most a hundred.
    pub head_branches: Vec<String>,
}

/// A repository as a delivery tells it.
pub(super) struct Place<'a> {
    /// The address of its page.
    pub(super) page: &'a str,
    pub(super) full_name: &'a str,
}

/// The commit that a delivery is about.
pub(super) struct Head<'a> {
    pub(super) sha: &'a str,
    /// The branches that it is the newest of.
    pub(super) branches: Vec<String>,
}

impl Event {
    /// `None` where the repository's page is not that of its name, and without a commit.
    pub(super) fn new(
        kind: EventKind,
        place: &Place<'_>,
        mut numbers: Vec<u64>,
        head: Head<'_>,
    ) -> Option<Self> {
        let Head { sha, mut branches } = head;
        let is_hex = sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || ![40, 64].contains(&sha.len()) {
            return None;
        }
        let repository = RepositoryAddress::parse(place.page)?;
        let own_name = repository.full_name();
        if !own_name.eq_ignore_ascii_case(place.full_name) {
            return None;
        }
        numbers.truncate(MAX_NAMED);
        branches.retain(|branch| !branch.is_empty() && branch.len() <= MAX_BRANCH);
        branches.truncate(MAX_NAMED);
        Some(Self {
            kind,
            repository,
            numbers,
            head_sha: sha.to_ascii_lowercase(),
            head_branches: branches,
        })
    }
}
