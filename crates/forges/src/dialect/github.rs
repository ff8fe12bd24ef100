//! GitHub and GitHub Enterprise: <https://docs.github.com/rest>.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::statuses::StatusPage;
use super::{Told, Wanted, body, encoded, failed_check, title, unless_hidden};
use crate::address::RepositoryAddress;
use crate::api::{Api, Memory, has_next_page};
use crate::error::ForgeError;
use crate::pull_request::{Checks, ChecksState, NewPullRequest, PullRequest, PullRequestState};

const PER_PAGE: u32 = 100;

#[derive(Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    state: String,
    title: String,
    #[serde(default)]
    draft: bool,
    merged_at: Option<String>,
    head: Branch,
    base: Branch,
}

#[derive(Deserialize)]
struct Branch {
    r#ref: String,
    sha: String,
    /// None if the fork is gone.
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    id: u64,
}

#[derive(Deserialize)]
struct CheckRunPage {
    check_runs: Vec<CheckRun>,
}

#[derive(Deserialize)]
struct CheckRun {
    name: String,
    status: String,
    conclusion: Option<String>,
    html_url: Option<String>,
}

/// The open pull requests that are wanted; all of them with a commit.
pub(crate) fn list(
    api: &Api,
    wanted: &Wanted<'_>,
    head_sha: Option<&str>,
) -> Result<Vec<PullRequest>, ForgeError> {
    let state = if head_sha.is_some() { "all" } else { "open" };
    let head = encoded(&format!("{}:{}", wanted.repository.owner(), wanted.head));
    let base = encoded(wanted.base);
    let mut found = Vec::new();
    for page in 1..=api.pages() {
        let path = format!(
            "{}/pulls?state={state}&head={head}&base={base}&per_page={PER_PAGE}&page={page}",
            path_of(wanted.repository)
        );
        let (pulls, headers) = api.get::<Vec<Pull>>(&path)?;
        for pull in pulls.into_iter().filter(|pull| pull.is_one_of(wanted)) {
            found.push(pull.checked(api, wanted.repository)?);
        }
        if !has_next_page(&headers) {
            break;
        }
    }
    Ok(found)
}

/// Makes a pull request.
pub(crate) fn create(
    api: &Api,
    wanted: &Wanted<'_>,
    new: &NewPullRequest,
) -> Result<PullRequest, ForgeError> {
    let document = json!({
        "title": title(&new.title, None),
        "head": wanted.head,
        "base": wanted.base,
        "body": body(&new.body),
        "draft": new.draft,
    });
    let path = format!("{}/pulls", path_of(wanted.repository));
    let pull: Pull = api.post(&path, &document)?;
    pull.checked(api, wanted.repository)
}

/// A pull request, and the check runs and statuses of its newest commit.
pub(crate) fn look(
    api: &Api,
    repository: &RepositoryAddress,
    number: u64,
    memory: &mut Memory<'_>,
) -> Result<(PullRequest, Checks), ForgeError> {
    let root = path_of(repository);
    let path = format!("{root}/pulls/{number}");
    let pull = api.get_known(&path, memory, |pull: Pull, _| pull.checked(api, repository))?;
    if pull.head_sha.is_empty() {
        return Ok((pull, Checks::only(ChecksState::Unknown)));
    }
    let commit = format!("{root}/commits/{}", pull.head_sha);
    let runs = format!("{commit}/check-runs?per_page={PER_PAGE}");
    let runs = all_pages(api, &runs, memory, CheckRunPage::checks);
    let statuses = format!("{commit}/status?per_page={PER_PAGE}");
    let statuses = all_pages(api, &statuses, memory, StatusPage::checks);
    let checks = unless_hidden(runs)?.and(unless_hidden(statuses)?);
    Ok((pull, checks))
}

/// What all pages of a list of checks say together. `path` has a query.
pub(super) fn all_pages<P: DeserializeOwned>(
    api: &Api,
    path: &str,
    memory: &mut Memory<'_>,
    checks: fn(&P) -> Checks,
) -> Result<Checks, ForgeError> {
    let first = format!("{path}&page=1");
    api.get_known(&first, memory, |page: P, mut has_more| {
        let mut all = checks(&page);
        for number in 2..=api.pages() {
            if !has_more {
                break;
            }
            let (page, headers) = api.get::<P>(&format!("{path}&page={number}"))?;
            all = all.and(checks(&page));
            has_more = has_next_page(&headers);
        }
        if has_more {
            all = all.and(Checks::only(ChecksState::Unknown));
        }
        Ok(all)
    })
}

fn path_of(repository: &RepositoryAddress) -> String {
    let owner = encoded(repository.owner());
    format!("/repos/{owner}/{}", encoded(repository.name()))
}

impl Pull {
    /// A branch of a fork may have the same name, and a fork the same owner.
    fn is_one_of(&self, wanted: &Wanted<'_>) -> bool {
        let id = |branch: &Branch| branch.repo.as_ref().map(|repository| repository.id);
        let is_of_one_repository = id(&self.head).is_some() && id(&self.head) == id(&self.base);
        is_of_one_repository && wanted.fits(&self.head.r#ref, &self.base.r#ref)
    }

    fn checked(self, api: &Api, repository: &RepositoryAddress) -> Result<PullRequest, ForgeError> {
        let state = match (self.state.as_str(), &self.merged_at) {
            (_, Some(_)) => PullRequestState::Merged,
            ("open", None) => PullRequestState::Open,
            ("closed", None) => PullRequestState::Closed,
            _ => return Err(api.unexpected("the pull request is neither open nor closed")),
        };
        let told = Told {
            number: self.number,
            url: &self.html_url,
            state,
            is_draft: self.draft,
            head_sha: &self.head.sha,
            head_branch: &self.head.r#ref,
            base_branch: &self.base.r#ref,
            title: &self.title,
            merged_at: self.merged_at.as_deref(),
        };
        told.checked(api, repository)
    }
}

impl CheckRunPage {
    fn checks(&self) -> Checks {
        let runs = self.check_runs.iter();
        runs.fold(Checks::only(ChecksState::None), |checks, run| {
            checks.and(run.check())
        })
    }
}

impl CheckRun {
    fn check(&self) -> Checks {
        if self.status != "completed" {
            return Checks::only(ChecksState::Pending);
        }
        let state = match self.conclusion.as_deref() {
            Some("success" | "neutral" | "skipped") => ChecksState::Passed,
            Some(
                "failure" | "timed_out" | "cancelled" | "action_required" | "stale"
                | "startup_failure",
            ) => ChecksState::Failed,
            _ => ChecksState::Unknown,
        };
        let mut check = Checks::only(state);
        if state == ChecksState::Failed {
            let url = self.html_url.as_deref();
            check.failed.push(failed_check(&self.name, url));
        }
        check
    }
}
