use serde::Deserialize;
use serde::de::DeserializeOwned;
use workforce_domain::string_enum;

use crate::address::RepositoryAddress;

/// GitHub sends no longer ones.
const MAX_BODY: usize = 25 << 20;
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
        /// A check run or a check suite ended.
        ChecksCompleted = "checks_completed",
        /// A commit got a status.
        StatusChanged = "status_changed",
    }
}

/// Something that happened in a repository of GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where.
    pub repository: RepositoryAddress,
    /// The numbers of the pull requests that it is about, at most a hundred. GitHub does not
    /// always tell them.
    pub numbers: Vec<u64>,
    /// The commit that it is about, in hexadecimal digits.
    pub head_sha: String,
    /// The branches that the commit is the newest of, as far as they are told, at most a hundred.
    pub head_branches: Vec<String>,
}

/// Reads a delivery. `name` is the header `X-GitHub-Event`. `None` for what is not understood,
/// and for everything that says nothing about a pull request's state, commits or checks.
#[must_use]
pub fn parse(name: &str, body: &[u8]) -> Option<Event> {
    if body.len() > MAX_BODY {
        return None;
    }
    match name {
        "pull_request" => read::<PullRequestDelivery>(body)?.event(),
        "check_run" => {
            let delivery: CheckRunDelivery = read(body)?;
            let run = delivery.check_run;
            let branch = run.check_suite.and_then(|suite| suite.head_branch);
            let pulls = &run.pull_requests;
            let commit = (run.head_sha.as_str(), branch);
            completed(&delivery.action, &delivery.repository, pulls, commit)
        }
        "check_suite" => {
            let delivery: CheckSuiteDelivery = read(body)?;
            let suite = delivery.check_suite;
            let pulls = &suite.pull_requests;
            let commit = (suite.head_sha.as_str(), suite.head_branch);
            completed(&delivery.action, &delivery.repository, pulls, commit)
        }
        "status" => {
            let delivery: StatusDelivery = read(body)?;
            let branches = delivery.branches.into_iter().map(|branch| branch.name);
            Event::new(
                EventKind::StatusChanged,
                &delivery.repository,
                Vec::new(),
                &delivery.sha,
                branches.collect(),
            )
        }
        _ => None,
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

fn completed(
    action: &str,
    repository: &Repository,
    pulls: &[Pull],
    (head_sha, branch): (&str, Option<String>),
) -> Option<Event> {
    if action != "completed" {
        return None;
    }
    let numbers = pulls.iter().map(|pull| pull.number).collect();
    let branches = branch.into_iter().collect();
    Event::new(
        EventKind::ChecksCompleted,
        repository,
        numbers,
        head_sha,
        branches,
    )
}

impl Event {
    fn new(
        kind: EventKind,
        repository: &Repository,
        mut numbers: Vec<u64>,
        head_sha: &str,
        mut head_branches: Vec<String>,
    ) -> Option<Self> {
        let is_hex = head_sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || ![40, 64].contains(&head_sha.len()) {
            return None;
        }
        let address = RepositoryAddress::parse(&repository.html_url)?;
        if !address
            .full_name()
            .eq_ignore_ascii_case(&repository.full_name)
        {
            return None;
        }
        numbers.truncate(MAX_NAMED);
        head_branches.retain(|branch| !branch.is_empty() && branch.len() <= MAX_BRANCH);
        head_branches.truncate(MAX_NAMED);
        Some(Self {
            kind,
            repository: address,
            numbers,
            head_sha: head_sha.to_ascii_lowercase(),
            head_branches,
        })
    }
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
    html_url: String,
}

#[derive(Deserialize)]
struct PullRequestDelivery {
    action: String,
    pull_request: FullPull,
    repository: Repository,
}

#[derive(Deserialize)]
struct FullPull {
    number: u64,
    #[serde(default)]
    merged: Option<bool>,
    head: Head,
}

#[derive(Deserialize)]
struct Head {
    r#ref: String,
    sha: String,
}

#[derive(Deserialize)]
struct Pull {
    number: u64,
}

#[derive(Deserialize)]
struct CheckRunDelivery {
    action: String,
    check_run: CheckRun,
    repository: Repository,
}

#[derive(Deserialize)]
struct CheckRun {
    head_sha: String,
    #[serde(default)]
    pull_requests: Vec<Pull>,
    check_suite: Option<SuiteOfRun>,
}

#[derive(Deserialize)]
struct SuiteOfRun {
    head_branch: Option<String>,
}

#[derive(Deserialize)]
struct CheckSuiteDelivery {
    action: String,
    check_suite: CheckSuite,
    repository: Repository,
}

#[derive(Deserialize)]
struct CheckSuite {
    head_sha: String,
    head_branch: Option<String>,
    #[serde(default)]
    pull_requests: Vec<Pull>,
}

#[derive(Deserialize)]
struct StatusDelivery {
    sha: String,
    #[serde(default)]
    branches: Vec<NamedBranch>,
    repository: Repository,
}

#[derive(Deserialize)]
struct NamedBranch {
    name: String,
}

impl PullRequestDelivery {
    fn event(self) -> Option<Event> {
        let pull = self.pull_request;
        let kind = match self.action.as_str() {
            "opened" => EventKind::Opened,
            "reopened" => EventKind::Reopened,
            "synchronize" => EventKind::Synchronized,
            "closed" if pull.merged == Some(true) => EventKind::Merged,
            "closed" => EventKind::Closed,
            _ => return None,
        };
        let branches = vec![pull.head.r#ref];
        Event::new(
            kind,
            &self.repository,
            vec![pull.number],
            &pull.head.sha,
            branches,
        )
    }
}
